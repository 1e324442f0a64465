import { describe, expect, it } from 'vitest';
import { anesFolder, pooled, readAnes } from '../../../../experiments/tabular/anes.js';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { rational } from '../../../base/exact/rational.js';
import { largestPairwiseBase } from '../../../privacy/dependence/pairwise/leakage.js';
import { pure } from '../../../privacy/mechanism/budget-share.js';
import { type CodedTable, chooseRows } from './coded.js';
import { pairTables } from './contingency.js';
import { type SpreadTerms, spreadNoise, spreadSensitivity, wholeSpread, worstSpread } from './private-spread.js';

let state = 3;
const below = (n: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const levels = [2, 3, 2];
type Row = readonly number[];
const tableOf = (rows: readonly Row[]): CodedTable => ({
  names: levels.map((_, c) => `q${c}`),
  levels,
  rows: rows.length,
  columns: levels.map((_, c) => Uint16Array.from(rows, (row) => row[c]!)),
});
const all: readonly Row[] = [0, 1].flatMap((a) => [0, 1, 2].flatMap((b) => [0, 1].map((c) => [a, b, c])));
const score = (rows: readonly Row[], terms: SpreadTerms): number => worstSpread([pairTables(tableOf(rows))], terms);

describe('the spread as one number', () => {
  it.each([
    { least: 1, failure: 0.04, strata: 1 },
    { least: 3, failure: 0.5, strata: 1 },
    { least: 6, failure: 0.9, strata: 1 },
    { least: 40, failure: 0.9, strata: 1 },
    // no radius: only the distance remains
    { least: 4, failure: 10, strata: 1 },
  ])('the spread moves no more than stated when any row is replaced by any other: %o', (terms) => {
    const most = spreadSensitivity(levels, terms);
    let seen = 0;
    for (let trial = 0; trial < 60; trial++) {
      // strongly dependent answers, so that the worst pair has a large distance
      const rows = Array.from({ length: 2 + below(14) }, (): Row => {
        const a = below(2);
        return [a, below(4) === 0 ? below(3) : a * 2, below(5) === 0 ? below(2) : a];
      });
      const before = score(rows, terms);
      for (let r = 0; r < Math.min(rows.length, 4); r++)
        for (const other of all)
          seen = Math.max(seen, Math.abs(before - score([...rows.slice(0, r), other, ...rows.slice(r + 1)], terms)));
    }
    expect(seen).toBeLessThanOrEqual(most * (1 + 1e-12));
    expect(seen).toBeGreaterThan(0);
  });

  it('the spread moves no more than stated when rows change their stratum', () => {
    const terms = { least: 3, failure: 0.9, strata: 2 };
    const most = spreadSensitivity([2, 2], terms);
    const split = (rows: readonly Row[]): number => {
      const table = { ...tableOf(rows), names: ['q0', 'q2'], levels: [2, 2] };
      const open = { ...table, columns: [table.columns[0]!, table.columns[2]!] };
      const parts = [0, 1, 2].map((b) => rows.flatMap((row, r) => (row[1] === b ? [r] : [])));
      return worstSpread(
        parts.map((part) => pairTables(chooseRows(open, part))),
        terms,
      );
    };
    for (let trial = 0; trial < 40; trial++) {
      const rows = Array.from({ length: 12 }, (): Row => all[below(all.length)]!);
      for (const other of all) expect(Math.abs(split(rows) - split([other, ...rows.slice(1)]))).toBeLessThanOrEqual(most);
    }
  });

  it('the published spread moves by no more than is reserved for it, and nearly by that', () => {
    // No radius: the bound is two rows in `least`. One row leaves an answer and joins another, and moves both distributions in opposite
    // directions.
    const least = 40;
    const terms = { least, failure: 4, strata: 1 };
    const two = [2, 2];
    const noise = spreadNoise(two, terms, pure(rational(1)));
    const rows = (own: Row): CodedTable => {
      const list = [own, ...[0, 1].flatMap((a) => Array.from({ length: least }, (_, k): Row => [a, a === 1 && k === 0 ? 1 : 0]))];
      return {
        names: ['q0', 'q1'],
        levels: two,
        rows: list.length,
        columns: two.map((_, c) => Uint16Array.from(list, (row) => row[c]!)),
      };
    };
    const run = (own: Row): RecordingPayment => {
      const transcript = new RecordingPayment([noise]);
      noise.prepare(transcript)([wholeSpread([pairTables(rows(own))], terms)]);
      return transcript;
    };
    const all = [0, 1].flatMap((a) => [0, 1].map((b): Row => [a, b]));
    const used = all.flatMap((a) => all.map((b) => usedParts(run(a), run(b))[0]!));
    expect(Math.max(...used)).toBeLessThanOrEqual(1);
    expect(Math.max(...used)).toBeGreaterThan(0.9);
    expect(wholeSpread([], terms)).toBe(0n);
  });

  it('the spread is one for copied columns and near the radius for independent ones, unaffected by rare answers', () => {
    const terms = { least: 200, failure: 0.04, strata: 1 };
    const copies = Array.from({ length: 1000 }, (_, r): Row => [r % 2, (r % 2) * 2, r % 2]);
    expect(score(copies, terms)).toBe(1);
    const strangers = Array.from({ length: 6000 }, (): Row => [below(2), below(3), below(2)]);
    expect(score(strangers, terms)).toBeLessThan(0.15);
    // two rows with a rare answer are far from all others, and weigh one hundredth
    const rare = strangers.map((row, r): Row => (r < 2 ? [row[0]!, 2, 1] : [row[0]!, below(2), row[2]!]));
    expect(score(rare, terms)).toBeLessThan(0.15);
  });
});

describe.skipIf(!anesFolder)('ANES 2020 (needs the public data)', () => {
  it('the spread gains little before epsilon one has been paid for it: the figure of the guide', async () => {
    const table = pooled(await readAnes({ year: '2020', columns: 153 }), 0.05);
    const terms = { least: 154, failure: 0.04, strata: 1 };
    const exact = worstSpread([pairTables(table)], terms);
    const sensitivity = spreadSensitivity(table.levels, terms);
    const columns = table.names.length;
    /** Ratio of noise to plain composition of a release at epsilon 1 if `paid` was spent on the number, at its median noise. */
    const ratio = (paid: number): number => {
      const bound = Math.min(1, exact + (sensitivity / paid) * Math.log(1 / (2 * 0.01)));
      const spread = { columns, names: table.names, confidence: 0.95, tilts: [{ tilt: 1, spread: bound * (columns - 1) }] };
      return 1 / columns / largestPairwiseBase(spread, 1);
    };
    expect(ratio(0.4)).toBeGreaterThan(0.9);
    expect(ratio(1)).toBeLessThan(0.93);
    expect(ratio(1e6)).toBeLessThan(0.86);
  });
});
