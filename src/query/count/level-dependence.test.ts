import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy, weight } from '../../../test/sample-policy.js';
import { Fault } from '../../base/errors.js';
import type { Cell } from '../../data/engine/engine.js';
import { type ColumnLevels, resolutionOf } from '../../privacy/dependence/model/resolution.js';
import { columnLevels, type ValueLevels } from '../../privacy/dependence/model/value-levels.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import { dependsOnLevels } from './level-dependence.js';
import type { Measure } from './measure.js';
import { rowCounter } from './row-counter.js';

const columns = [number('x', '0', '7'), category('party', ['a', 'b', 'c', 'd']), weight('w', '0.5', '1.5', '0.5')];
const policy = samplePolicy(columns, { secret: 'answer' });
const cells: Record<string, readonly Cell[]> = {
  x: [0, 1, 2, 3, 4, 5, 6, 7, null],
  party: ['a', 'b', 'c', 'd', null],
  w: [0.5, 1, 1.5, null],
};
const names = [...policy.columns.keys()];
const rows: readonly (readonly Cell[])[] = names.reduce<Cell[][]>(
  (grown, name) => grown.flatMap((row) => cells[name]!.map((cell) => [...row, cell])),
  [[]],
);

const refuse = (message: string, hint: string) => new Fault('MODEL_INVALID', message, hint);
const namedLevels = (name: string, level: readonly number[]): ValueLevels => {
  const levelRows: (string | null)[][] = [];
  cells[name]!.forEach((cell, k) => {
    levelRows[level[k]!] ??= [];
    levelRows[level[k]!]!.push(cell === null ? null : `${cell}`);
  });
  return levelRows.filter(Boolean);
};

/** Contribution of each row, counted one row at a time by the product's own counter. */
const added = (measure: Measure): readonly string[] =>
  rows.map((row) => {
    const counter = rowCounter([measure], names, policy);
    counter.add({ columns: row.map((cell) => [cell]), rows: 1 });
    return counter.totals()[0]!.join();
  });

/** Rows that agree in all levels add the same. */
function isConstant(contributions: readonly string[], levelOf: Readonly<Record<string, readonly number[]>>): boolean {
  const seen = new Map<string, string>();
  return rows.every((row, r) => {
    const key = names
      .map((name, c) => (levelOf[name] ? levelOf[name][cells[name]!.indexOf(row[c]!)] : JSON.stringify(row[c])))
      .join();
    const known = seen.get(key) ?? contributions[r]!;
    seen.set(key, known);
    return known === contributions[r];
  });
}

const comparison = fc.constantFrom('=', '!=', '<', '<=', '>', '>=');
const condition = fc.oneof(
  fc.tuple(comparison, fc.integer({ min: -1, max: 8 })).map(([op, value]) => ({ column: 'x', op, value })),
  fc
    .tuple(fc.constantFrom('in', 'not in'), fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }))
    .map(([op, values]) => ({ column: 'party', op, values })),
  fc.tuple(fc.constantFrom('x', 'party'), fc.constantFrom('missing', 'present')).map(([column, op]) => ({ column, op })),
);
const where = fc.array(condition, { maxLength: 2 });
const query = fc.oneof(
  where.map((w) => ({ kind: 'count', where: w })),
  fc.tuple(where, fc.subarray(['x', 'party'], { minLength: 1 })).map(([w, by]) => ({ kind: 'count', where: w, by })),
  where.map((w) => ({ kind: 'sum', column: 'x', where: w })),
  where.map((w) => ({ kind: 'mean', column: 'x', where: w, by: ['party'] })),
  where.map((w) => ({ kind: 'quantile', column: 'x', at: [0.5], where: w })),
  where.map((w) => ({ kind: 'share', column: 'party', values: ['a'], where: w })),
  where.map((w) => ({ kind: 'count', weight: 'w', where: w })),
);
const levelsFor = (name: string) =>
  fc.array(fc.integer({ min: 0, max: 4 }), { minLength: cells[name]!.length, maxLength: cells[name]!.length });
const both = fc.tuple(query, levelsFor('x'), levelsFor('party'));
const resolve = (levelOf: Readonly<Record<string, readonly number[]>>) =>
  resolutionOf(
    Object.entries(levelOf).map(
      ([name, level]): ColumnLevels => columnLevels(policy.columns.get(name)!, namedLevels(name, level), refuse),
    ),
    refuse,
  );

describe('dependence of a query on levels only', () => {
  it('rows that agree in all levels add the same where a query depends on levels only', () => {
    let within = 0;
    fc.assert(
      fc.property(both, ([question, x, party]) => {
        const levelOf = { x, party };
        for (const measure of bindBatch(parseBatch(question), policy).measures)
          if (dependsOnLevels(measure.counting, resolve(levelOf))) {
            within++;
            expect(isConstant(added(measure), levelOf)).toBe(true);
          }
      }),
      { numRuns: Number(process.env.FUGU_RUNS ?? 80) },
    );
    expect(within).toBeGreaterThan(5);
  });

  it('a query that depends on levels only is recognised, for levels that are ranges of numbers', () => {
    const runs = fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }).map((cuts) => {
      let level = 0;
      return [0, ...cuts.map((cut) => (cut ? ++level : level)), 8];
    });
    fc.assert(
      fc.property(query, runs, (question, x) => {
        const levelOf = { x };
        const { measures } = bindBatch(parseBatch(question), policy);
        const all = measures.map((measure) => ({ measure, contributions: added(measure) }));
        // A row at the origin of a sum adds nothing, as a dropped row does: only its count distinguishes them.
        if (!all.every(({ contributions }) => isConstant(contributions, levelOf))) return;
        // Two tests that no row passes together are not recognised as a contradiction.
        for (const { measure, contributions } of all)
          if (contributions.some((text) => /[1-9]/.test(text)))
            expect(dependsOnLevels(measure.counting, resolve(levelOf))).toBe(true);
      }),
      { numRuns: Number(process.env.FUGU_RUNS ?? 40) },
    );
  });

  it('every column of a joint table is checked for its levels', () => {
    const merged = {
      ...samplePolicy([category('party', ['a', 'b', 'c', 'd']), category('form', ['f', 'g'])]),
      merge: [
        {
          columns: ['form', 'party'],
          support: [
            ['f', 'a'],
            ['g', 'b'],
            ['g', null],
          ],
        },
      ],
    };
    const { measures } = bindBatch(parseBatch({ kind: 'histogram', column: 'party', merged: true }), merged);
    const by = (levelRows: ValueLevels) =>
      dependsOnLevels(
        measures[0]!.counting,
        resolutionOf([columnLevels(merged.columns.get('party')!, levelRows, refuse)], refuse),
      );
    expect(by([['a'], ['b'], ['c'], ['d'], [null]])).toBe(true);
    expect(by([['a', 'b'], ['c'], ['d'], [null]])).toBe(false);
    expect(by([['a'], ['b', null], ['c'], ['d']])).toBe(false);
  });

  it('a check that looks at keys but not at tests or values is detected', () => {
    const [filtered] = bindBatch(parseBatch({ kind: 'count', where: [{ column: 'x', op: '<', value: 3 }] }), policy).measures;
    const [sum] = bindBatch(parseBatch({ kind: 'sum', column: 'x' }), policy).measures;
    const levelOf = { x: [0, 0, 0, 0, 1, 1, 1, 1, 2] };
    for (const { counting, ...rest } of [filtered!, sum!]) {
      const blind = { ...counting, filter: [], value: { kind: 'one' } } as const;
      expect(dependsOnLevels(blind, resolve(levelOf))).toBe(true);
      expect(isConstant(added({ counting, ...rest } as Measure), levelOf)).toBe(false);
      expect(dependsOnLevels(counting, resolve(levelOf))).toBe(false);
    }
  });
});
