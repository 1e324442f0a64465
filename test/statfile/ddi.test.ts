import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCodebook } from '../../src/data/codebook/codebook.js';
import { readDdi } from '../../src/data/statfile/ddi.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-ddi-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (text: string) => {
  const path = join(folder, 'codebook.xml');
  writeFileSync(path, text);
  return path;
};

const codebook = `<?xml version="1.0" encoding="UTF-8"?>
<!-- made up --><codeBook xmlns="ddi:codebook:2_5" version="2.5"><stdyDscr><citation/></stdyDscr>
<dataDscr>
  <var ID="V1" name="party" dcml="0"><labl>Party</labl>
    <qstn><preQTxt>Now</preQTxt><qstnLit>Which <emph>party</emph> is closest &amp; dearest to you?</qstnLit></qstn>
    <invalrng><item VALUE="98"/></invalrng>
    <catgry><catValu>1</catValu><labl>Left &lt;wing&gt;</labl><catStat type="freq">12</catStat></catgry>
    <catgry><catValu>2</catValu><labl><![CDATA[Right]]></labl></catgry>
    <catgry missing="Y"><catValu>99</catValu><labl>Refused</labl></catgry>
    <varFormat type="numeric"/></var>
  <var name="w" wgt="wgt"><labl level="variable">Weight</labl><varFormat type="numeric"/></var>
</dataDscr></codeBook>`;

describe('a DDI codebook', () => {
  it('the codebook gives names, questions, labels, missing codes and the weight', () => {
    const [party, weight] = readDdi(file(codebook));
    expect(party).toMatchObject({ name: 'party', label: 'Party', kind: 'number', missing: ['98', '99'] });
    expect(party!.question).toBe('Which party is closest & dearest to you?');
    expect([...party!.labels]).toEqual([
      ['1', 'Left <wing>'],
      ['2', 'Right'],
      ['99', 'Refused'],
    ]);
    expect(weight).toMatchObject({ name: 'w', label: 'Weight', weight: true });
  });

  it('a DDI file is a codebook in every place that names one', async () => {
    const entry = (await readCodebook(file(codebook))).get('party')!;
    expect(entry).toMatchObject({ values: ['1', '2'], missing: ['98', '99'], label: 'Which party is closest & dearest to you?' });
  });

  it.each([
    ['no XML', 'name,value,label\n'],
    ['XML that ends too early', codebook.slice(0, 400)],
    ['a document that declares entities', `<!DOCTYPE codeBook [<!ENTITY a "aaaaaaaa">]>${codebook}`],
    ['a document without variables', '<codeBook></codeBook>'],
    ['a document nested without end', '<a>'.repeat(100_000)],
  ])('the reader refuses %s', (_, text) => {
    expect(() => readDdi(file(text))).toThrow(expect.objectContaining({ code: 'DATA_MALFORMED' }));
  });
});
