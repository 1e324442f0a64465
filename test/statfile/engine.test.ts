import { copyFileSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { confirmPolicy } from '../../src/app/api/confirm.js';
import { draftPolicy } from '../../src/app/api/draft.js';
import { open } from '../../src/app/api/fugu.js';
import type { Snapshot } from '../../src/data/engine/engine.js';
import { readPolicy } from '../../src/data/terms/read.js';
import { openNow } from '../now.js';
import { corpus, expectedOf } from './corpus.js';
import { workbookOf } from './zip.js';

const root = mkdtempSync(join(tmpdir(), 'fugu-survey-file-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folder = root;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'));
});

const cells = async (engine: Snapshot, column: string) =>
  (await engine.rows({ sql: `SELECT "${column}" FROM fugu_data`, values: [] })).open().map(([cell]) => cell ?? null);
const sorted = (list: readonly unknown[]) =>
  [...list].map((x) => (x === '' ? null : x)).sort((a, b) => String(a).localeCompare(String(b)));

describe('a survey file as data', () => {
  it.each(Object.entries(expectedOf(corpus)).filter(([file]) => !/^(wide|many|empty)/.test(file)))(
    'the file %s shows its cells',
    async (file, expected) => {
      const engine = await openNow({ source: join(corpus, file) });
      try {
        expect((await engine.size()).open()).toBe(expected.rows);
        for (const [i, { name }] of expected.variables.entries()) {
          const column = (await engine.columns()).find((c) => c.name === name)!;
          const shown = expected.columns[i]!.map((cell) =>
            cell === null
              ? null
              : column.type === 'text'
                ? String(cell)
                    .trim()
                    .replace(/^TRUE|FALSE$/, (x) => x)
                : cell,
          );
          expect(sorted(await cells(engine, name)), name).toEqual(sorted(shown));
        }
      } finally {
        await engine.close();
      }
    },
  );

  it('the file is the same data when columns are categories and numbers of a policy, held or not', async () => {
    const source = join(corpus, 'missing-coded.sav');
    const declared = { codes: new Set(['a', 'd']), numbers: new Set(['b']), domains: new Map([['a', ['1', '2', '5']]]) };
    for (const memory of [2 ** 30, 2 ** 26]) {
      const engine = await openNow({ source, ...declared }, { memory });
      expect(sorted(await cells(engine, 'a')).map(String)).toEqual(['1', '2', '5', 'null', 'null']);
      expect(sorted(await cells(engine, 'd'))).toEqual(['NA', null, 'x', 'y', 'z']);
      expect(sorted(await cells(engine, 'b'))).toEqual([1, 97, 98, 99, null]);
      await engine.close();
    }
  });

  it('the file shows the same if it is held in memory or copied, with text of every kind', async () => {
    // As many columns as would not fit, and cells that a CSV has to quote, fold or leave out.
    const ugly = ['say "no"', 'two\nlines', 'a,b', ' blanks ', 'é🐡', 'x'.repeat(20_000), ''];
    const cell = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${text.replaceAll('"', '&quot;')}</t></is></c>`;
    const names = Array.from({ length: 250 }, (_, i) => `c${i}`);
    const rows = [names, ...ugly.map((text, i) => names.map((_, c) => (c === 0 ? String(i) : text)))];
    const source = join(folder, 'ugly.xlsx');
    writeFileSync(
      source,
      workbookOf(
        `<worksheet><sheetData>${rows.map((r) => `<row>${r.map(cell).join('')}</row>`).join('')}</sheetData></worksheet>`,
      ),
    );
    const shown = [];
    for (const memory of [2 ** 31, 2 ** 26]) {
      const engine = await openNow({ source, numbers: new Set(['c0']) }, { memory });
      const found = (await engine.rows({ sql: 'SELECT c0, c1, c249 FROM fugu_data ORDER BY c0', values: [] })).open();
      shown.push(found);
      await engine.close();
    }
    expect(shown[0]).toEqual(
      ugly.map((text, i) => [i, ...[1, 2].map(() => (text.length > 10_000 || text === '' ? null : text.trim()))]),
    );
    expect(shown[1]).toEqual(shown[0]);
  });

  it('the engine holds no more than it shows: one long text in every cell is a small file', async () => {
    const source = join(folder, 'long.xlsx');
    const row = '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>';
    const sheet = `<worksheet><sheetData><row><c t="s"><v>2</v></c><c t="s"><v>3</v></c></row>${row.repeat(300)}</sheetData></worksheet>`;
    const strings = ['x'.repeat(3 << 20), 'y'.repeat(50_000), 'a', 'b'].map((text) => `<si><t>${text}</t></si>`).join('');
    writeFileSync(source, workbookOf(sheet, { 'xl/sharedStrings.xml': `<sst>${strings}</sst>` }));
    const before = process.memoryUsage().rss;
    const engine = await openNow({ source }, { memory: 2 ** 28 });
    // The long text alone would take 900 megabytes.
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 29);
    const [shown] = (await engine.rows({ sql: 'SELECT count(a), count(b), min(length(b)) FROM fugu_data', values: [] })).open();
    expect(shown!.map(Number)).toEqual([0, 300, 50_000]);
    await engine.close();
  });

  it('the file has one snapshot per content, and is read again when it changed', async () => {
    const source = join(folder, 'survey.sav');
    copyFileSync(join(corpus, 'people-plain.sav'), source);
    const engine = await openNow({ source });
    const before = await engine.id();
    expect(await engine.id()).toBe(before);
    copyFileSync(join(corpus, 'missing-plain.sav'), source);
    utimesSync(source, new Date(), new Date());
    expect(await engine.id()).not.toBe(before);
    expect((await engine.columns()).map((c) => c.name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect((await engine.size()).open()).toBe(5);
    await engine.close();
  });

  it('a truncated file is refused, and the engine keeps the former one', async () => {
    const source = join(folder, 'survey.sav');
    const whole = readFileSync(join(corpus, 'people-coded.sav'));
    writeFileSync(source, whole.subarray(0, whole.length - 20));
    await expect(openNow({ source })).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
    writeFileSync(source, whole);
    const engine = await openNow({ source });
    writeFileSync(source, whole.subarray(0, whole.length - 20));
    await expect(engine.id()).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
    await engine.close();
  });

  it('the file can hold a relation, and only a workbook has tables', async () => {
    const relations = [{ name: 'knows', table: join(corpus, 'missing-coded.sav'), columns: ['a', 'b'], symmetric: false }];
    const engine = await openNow({ source: join(corpus, 'people-plain.sav'), relations });
    const ties = (await engine.rows({ sql: 'SELECT c0, c1 FROM fugu_relation_knows', values: [] })).open();
    expect(ties.map((t) => t.join()).sort()).toEqual(['-8,1', '-9,99', '1,97', '2,98']);
    await engine.close();
    await expect(openNow({ source: join(corpus, 'people-plain.sav'), table: 'x' })).rejects.toMatchObject({
      code: 'DATA_NOT_FOUND',
    });
    const sheet = await openNow({ source: join(corpus, 'book.xlsx'), table: 'More & more' });
    expect(sorted(await cells(sheet, 'other'))).toEqual(['1', '2.5']);
    await sheet.close();
  });
});

describe('the command fugu init on a survey file', () => {
  it.each(['people-coded.sav', 'people-packed.zsav', 'people-118.dta'])(
    'the draft of %s takes labels and missing codes from the file itself',
    async (file) => {
      copyFileSync(join(corpus, file), join(folder, file));
      const { policy: path, text } = await draftPolicy(join(folder, file), {
        out: join(folder, 'policy.yaml'),
        dependence: 'none',
      });
      expect(text).toContain(`codebook: ${file}`);
      const policy = await readPolicy(path);
      const party = policy.columns.get('party')!;
      expect(party).toMatchObject({ type: 'category', label: 'Which party?' });
      if (party.type !== 'category') return;
      // Stata has no missing codes among its numbers: the label marks them.
      expect(party.values).toEqual(['1', '2', '3']);
      expect(party.missing).toEqual(['99']);
      expect(party.labels?.get('2')).toBe('Right');
      await confirmPolicy(path, { columns: 'all', dependence: 'none' });
      const fugu = await open(path);
      const { tables } = await fugu.release({ kind: 'histogram', column: 'party' }, { epsilon: 0.5 });
      expect(tables[0]!.rows.map((r) => r.keys[0])).toEqual(expect.arrayContaining([...party.values]));
      await fugu.close();
    },
  );

  it('the draft takes labels and missing codes from a named codebook instead', async () => {
    copyFileSync(join(corpus, 'people-plain.sav'), join(folder, 'survey.sav'));
    writeFileSync(join(folder, 'codebook.csv'), 'name,value,label\nparty,1,One\nparty,2,Two\n');
    const { text } = await draftPolicy(join(folder, 'survey.sav'), {
      out: join(folder, 'p.yaml'),
      codebook: join(folder, 'codebook.csv'),
    });
    expect(text).toContain('codebook: codebook.csv');
  });

  it('the draft knows refusals that Stata marks by letters', async () => {
    copyFileSync(join(corpus, 'tagged-118.dta'), join(folder, 'survey.dta'));
    const { policy } = await draftPolicy(join(folder, 'survey.dta'), { out: join(folder, 'p.yaml') });
    expect((await readPolicy(policy)).columns.get('a')).toMatchObject({ values: ['1'], missing: ['.a', '.b'] });
  });
});
