import { expect, it } from 'vitest';
import { cellsOf } from '../mechanism/residual/part.js';
import type { AnswerTable } from '../query/bound.js';
import { cellVariance, estimateFrom, tableFrom, variancesOf } from './estimate.js';
import { splitOf, type WorkloadColumn, withoutSplits } from './levels.js';
import { plainLayout, residualLayout } from './ways.js';

const key = { kind: 'bin', column: 'x', edges: [], size: 0 } as const;
const labelled = (labels: readonly string[]) => ({ key, labels });
const split = (name: string, first: number, labels: readonly string[], groups: Record<string, string[]>): WorkloadColumn => ({
  ...labelled(labels),
  name,
  first,
  split: splitOf(name, labelled(labels), `${name} groups`, groups),
});
const columns: readonly WorkloadColumn[] = [
  split('district', 0, ['a', 'b', 'c', 'd', '(missing)'], { north: ['c', 'a', 'd'], south: ['b'] }),
  { ...labelled(['f', 'm']), name: 'sex', first: 2 },
  split('job', 3, ['1', '2', '3'], { x: ['3', '1'], y: ['2'] }),
];
const sizes = [3, 3, 2, 2, 2];
const tables = [
  { axes: [0, 1, 3, 4], weight: 1 },
  { axes: [0, 2], weight: 2 },
  { axes: [0, 3, 4], weight: 1 },
];

it.each([
  ['without smaller tables', residualLayout({ sizes, tables }, 'replaced')],
  ['every table by itself', plainLayout({ sizes, tables }, 'zcdp')],
])('what is shown of groups errs by what all noises together do to it: %s', (_, layout) => {
  const variances = variancesOf(layout);
  const varianceOf = (axes: readonly number[]) => cellVariance(sizes, axes, variances);
  for (const { axes } of tables) {
    const { table } = withoutSplits(columns, axes, varianceOf);
    const read = (told: readonly (readonly number[])[]): AnswerTable =>
      table({
        name: '',
        query: { kind: 'count' },
        columns: ['count'],
        rows: Array.from(tableFrom(estimateFrom(layout, told, 1), axes), (value) => ({
          keys: [],
          value,
          standardError: 1,
          low: value - 2,
          high: value + 2,
        })),
        error: 'combined',
      });
    const nothing = layout.parts.map((part) => new Array<number>(cellsOf(sizes, part)).fill(0));
    const shown = read(nothing);
    const squares = new Float64Array(shown.rows.length);
    for (const [k, list] of nothing.entries())
      for (const cell of list.keys()) {
        const { rows } = read(nothing.map((own, i) => (i === k ? own.with(cell, 1) : own)));
        for (const [r, { value }] of rows.entries()) squares[r]! += value! ** 2;
      }
    for (const [r, { standardError, high }] of shown.rows.entries()) {
      expect(standardError! ** 2 / squares[r]!).toBeCloseTo(1, 8);
      expect(high).toBeCloseTo(2 * standardError!, 12);
    }
  }
});
