import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { StatVariable } from '../../src/data/statfile/statfile.js';
import { corpus, type ExpectedFile, expectedOf, readWhole } from './corpus.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-statfile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** JSON has no infinities. */
const bound = (x: string | number | null): number => (x === 'inf' ? Infinity : x === '-inf' ? -Infinity : Number(x));

/** A missing range of pyreadstat in our form: whole numbers one by one if there are few. */
const isMissing = (
  { missing, missingRanges = [] }: StatVariable,
  from: string | number | null,
  to: string | number | null,
): boolean => {
  const [low, high] = [bound(from), bound(to)];
  if (from === to || Number.isNaN(low) || Number.isNaN(high)) return missing.includes(String(from));
  if (missingRanges.some((r) => r.low === low && r.high === high)) return true;
  if (!(high - low < 1000)) return false;
  for (let x = Math.ceil(low); x <= high; x++) if (!missing.includes(String(x))) return false;
  return true;
};

async function compare(path: string, expected: ExpectedFile): Promise<void> {
  const found = await readWhole(path);
  expect(found.rows).toBe(expected.rows);
  expect(found.label ?? null).toBe(expected.label);
  expect(found.variables.map((v) => v.name)).toEqual(expected.variables.map((v) => v.name));
  expect(found.variables.map((v) => v.label ?? null)).toEqual(expected.variables.map((v) => v.label));
  for (const [i, { name, labels, ranges }] of expected.variables.entries()) {
    const variable = found.variables[i]!;
    expect(Object.fromEntries(variable.labels), name).toEqual(labels);
    for (const [low, high] of ranges) expect(isMissing(variable, low, high), `${name} ${low} ${high}`).toBe(true);
    expect(found.columns[i], name).toEqual(expected.columns[i]);
  }
}

describe('survey files compared with pyreadstat', () => {
  it.each(Object.entries(expectedOf(corpus)))('the file %s is read as by pyreadstat', async (file, expected) =>
    compare(join(corpus, file), expected),
  );
});

describe('details that pyreadstat does not report', () => {
  it('a file without an encoding was written on Windows', async () => {
    const { columns } = await readWhole(join(corpus, 'no-encoding.sav'));
    expect(columns[1]).toEqual(['Müller', 'Nuñez', '€uro']);
  });

  it('the weight variable is recognised', async () => {
    const { variables } = await readWhole(join(corpus, 'big-endian.sav'));
    expect(variables.map((v) => v.weight ?? false)).toEqual([false, false, true]);
  });

  it('an open range of missing codes stays a range, and a small one becomes its whole numbers', async () => {
    const [open] = (await readWhole(join(corpus, 'big-endian.sav'))).variables;
    expect(open).toMatchObject({ missing: ['99'], missingRanges: [{ low: Number.NEGATIVE_INFINITY, high: -1 }] });
    const small = (await readWhole(join(corpus, 'missing-plain.sav'))).variables.find((v) => v.name === 'b')!;
    expect(small.missing).toEqual(['97', '98', '99']);
    expect(small.missingRanges).toBeUndefined();
  });

  it.each([
    ['.sav', 'DATA_MALFORMED'],
    ['.dta', 'DATA_MALFORMED'],
    ['.xpt', 'DATA_MALFORMED'],
    ['.xlsx', 'DATA_MALFORMED'],
    ['.por', 'DATA_NOT_FOUND'],
  ])('a text called %s is refused', async (ending, code) => {
    const path = join(folder, `text${ending}`);
    writeFileSync(path, 'name,value,label\n'.repeat(100));
    await expect(readWhole(path)).rejects.toMatchObject({ code });
    await expect(readWhole(join(folder, `nothing${ending}`))).rejects.toMatchObject({ code: 'DATA_NOT_FOUND' });
  });

  it('a variable named like another is refused, even in other letters', async () => {
    const bytes = readFileSync(join(corpus, 'big-endian.sav'));
    bytes.write('num     ', bytes.indexOf('TXT     '), 'latin1');
    const path = join(folder, 'twice.sav');
    writeFileSync(path, bytes);
    await expect(readWhole(path)).rejects.toMatchObject({
      code: 'DATA_MALFORMED',
      message: expect.stringContaining('same name'),
    });
  });
});

/** A folder of other people's files, with the expected.vectors.json that `make.py expect FOLDER` writes. */
const more = process.env.FUGU_STATFILES;
describe.skipIf(more === undefined)('the files of FUGU_STATFILES', () => {
  it.each(Object.entries(more === undefined ? {} : expectedOf(more)))(
    'the file %s is read as by pyreadstat',
    async (file, expected) => compare(join(more!, file), expected),
  );
});
