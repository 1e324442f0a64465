import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Variable } from '../../src/statfile/statfile.js';
import { corpus, type Expected, expectedOf, readWhole } from './corpus.js';

/** JSON has no infinities. */
const bound = (x: string | number | null): number => (x === 'inf' ? Infinity : x === '-inf' ? -Infinity : Number(x));

/** A range as pyreadstat tells it, in our words: whole numbers one by one where they are few. */
const isMissing = (
  { missing, missingRanges = [] }: Variable,
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

async function compare(path: string, expected: Expected): Promise<void> {
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

describe('survey files read as pyreadstat reads them', () => {
  it.each(Object.entries(expectedOf(corpus)))('%s', async (file, expected) => compare(join(corpus, file), expected));
});

/** A folder of other people's files, with the expected.vectors.json that `make.py expect FOLDER` writes. */
const more = process.env.FUGU_STATFILES;
describe.skipIf(more === undefined)('and so do the files of FUGU_STATFILES', () => {
  it.each(Object.entries(more === undefined ? {} : expectedOf(more)))('%s', async (file, expected) =>
    compare(join(more!, file), expected),
  );
});
