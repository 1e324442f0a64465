import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openStatFile } from '../../src/data/statfile/statfile.js';
import { processorTime } from '../processor-time.js';
import { corpus, readWhole } from './corpus.js';
import { workbookOf } from './zip.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-xlsx-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (bytes: Buffer) => {
  const path = join(folder, 'book.xlsx');
  writeFileSync(path, bytes);
  return path;
};
const text = (place: string, words: string) => `<c r="${place}" t="inlineStr"><is><t>${words}</t></is></c>`;
const sheet = (...rows: string[]) =>
  `<worksheet><sheetData>${rows.map((r) => `<row>${r}</row>`).join('')}</sheetData></worksheet>`;

describe('a workbook', () => {
  it('the sheets of a workbook are read by name', async () => {
    const other = await openStatFile(join(corpus, 'book.xlsx'), { table: 'More & more' });
    expect(other.variables.map((v) => v.name)).toEqual(['other']);
    await other.close();
    await expect(openStatFile(join(corpus, 'book.xlsx'), { table: 'none' })).rejects.toMatchObject({
      code: 'DATA_NOT_FOUND',
      hint: 'Its sheets: Answers, More & more.',
    });
  });

  it('the reader names nameless columns, skips empty rows, and keeps the place of every cell', async () => {
    const path = file(
      workbookOf(
        sheet(
          `${text('A1', 'a')}${text('C1', 'c')}`,
          '',
          `<c r="B3"><v>2.5</v></c>${text('D3', ' ')}`,
          `<c r="C4" t="b"><v>1</v></c><c t="e"><v>#N/A</v></c>`,
        ),
      ),
    );
    const { variables, columns, rows } = await readWhole(path);
    expect(variables.map((v) => v.name)).toEqual(['a', 'column_2', 'c']);
    expect(rows).toBe(2);
    expect(columns).toEqual([
      [null, null],
      [2.5, null],
      [null, 'TRUE'],
    ]);
  });

  it('a workbook has as many records and columns for any content of one of them', async () => {
    const shape = async (record: string) => {
      const { variables, rows } = await readWhole(
        file(workbookOf(sheet('<c r="A1" t="e"><v>#N/A</v></c>', text('A2', 'a'), text('A3', 'x'), record, text('A5', 'y')))),
      );
      return [variables.length, rows];
    };
    const usual = await shape(text('A4', 'z'));
    expect(usual).toEqual([1, 3]);
    for (const record of [
      text('A4', ''),
      text('A4', ' '),
      '<c r="A4" t="e"><v>#N/A</v></c>',
      '<c r="A4"><v>1e400</v></c>',
      text('Z4', 'stray'),
    ])
      expect(await shape(record)).toEqual(usual);
  });

  it('the reader knows the day that 1900 did not have, and the calendar that starts in 1904', async () => {
    const styles = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="21"/></cellXfs></styleSheet>';
    const cells = sheet(
      text('A1', 'day'),
      ...['1', '59', '61', '43890', '43890.5'].map((v) => `<c r="A2" s="1"><v>${v}</v></c>`),
      '<c r="A9" s="2"><v>0.25</v></c>',
    );
    const read = await readWhole(file(workbookOf(cells, { 'xl/styles.xml': styles })));
    expect(read.columns[0]).toEqual(['1900-01-01', '1900-02-28', '1900-03-01', '2020-02-29', '2020-02-29T12:00:00', '06:00:00']);
    const from1904 = '<workbook><workbookPr date1904="1"/><sheets><sheet name="One" id="rId1"/></sheets></workbook>';
    const later = await readWhole(file(workbookOf(cells, { 'xl/styles.xml': styles, 'xl/workbook.xml': from1904 })));
    expect(later.columns[0]!.slice(0, 2)).toEqual(['1904-01-02', '1904-02-29']);
  });

  it('reading takes no longer than the length, for any tags and formats', async () => {
    const long = 100_000;
    const cells = sheet(text('A1', 'a'), `<c r="A2" ${'b'.repeat(long)}><v>1</v></c>`);
    const styles = `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${'['.repeat(long)}"/></numFmts></styleSheet>`;
    const path = file(workbookOf(cells, { 'xl/styles.xml': styles }));
    const took = await processorTime(async () => expect((await readWhole(path)).columns).toEqual([[1]]));
    // A pattern that looks back would take the square of the length: thousands of these.
    expect(took).toBeLessThan(100);
  });

  it('the reader refuses files that are no workbook', async () => {
    for (const bytes of [
      Buffer.from('PK'),
      Buffer.alloc(100),
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      workbookOf('<worksheet/>'),
      workbookOf('<worksheet>'),
    ])
      await expect(readWhole(file(bytes))).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
  });
});

it.each([
  [
    'two columns whose names differ in upper and lower case alone',
    sheet(`${text('A1', 'age')}${text('B1', 'Age')}`, text('A2', 'x')),
  ],
  ['a cell beyond the last column that Excel has', sheet(text('A1', 'a'), text('ZZZ2', 'x'))],
])('a workbook with %s is a fault', async (_, xml) => {
  await expect(readWhole(file(workbookOf(xml)))).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
});
