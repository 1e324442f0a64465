import { describe, expect, it } from 'vitest';
import type { CodedTable } from '../../../analysis/learn/network/coded.js';
import { publishedText } from '../../../app/cli/published-text.js';
import { tabularLoss } from '../../papers/correlated-columns/tabular-loss.js';
import { judgePublished, learnTabular, type PublishedFigure } from './published.js';

/** A survey of yes and no with a third level "(missing)" that nobody gave, from rows and how often each occurs. */
function survey(rows: readonly (readonly [readonly number[], number])[], levels = 3): CodedTable {
  const all = rows.flatMap(([row, times]) => Array.from({ length: times }, () => row));
  const columns = rows[0]![0].map((_, c) => Uint16Array.from(all, (row) => row[c]!));
  return { names: columns.map((_, c) => `q${c}`), levels: columns.map(() => levels), rows: all.length, columns };
}

/**
 * Largest log ratio of the probabilities of an output given two answers to one question, over all outputs: one row,
 * Laplace noise of one scale in every cell. A density e^(-|y - x| / scale) has its extreme ratios at y = 0 and y = 1.
 */
function enumeratedLoss(table: CodedTable, scale: number): number {
  const cells = table.levels.reduce((sum, v) => sum + v, 0);
  const people = Array.from({ length: table.rows }, (_, r) => table.columns.map((codes) => codes[r]!));
  let worst = 0;
  for (let output = 0; output < 2 ** cells; output++) {
    const likelihood = (row: readonly number[]): number => {
      let [distance, cell] = [0, 0];
      for (const [c, v] of table.levels.entries())
        for (let level = 0; level < v; level++, cell++) distance += Math.abs(((output >> cell) & 1) - (row[c] === level ? 1 : 0));
      return Math.exp(-distance / scale);
    };
    for (let c = 0; c < table.levels.length; c++) {
      const given = new Map<number, number[]>();
      for (const row of people) given.set(row[c]!, [...(given.get(row[c]!) ?? []), likelihood(row)]);
      const means = [...given.values()].map((list) => list.reduce((a, b) => a + b, 0) / list.length);
      worst = Math.max(worst, Math.log(Math.max(...means) / Math.min(...means)));
    }
  }
  return worst;
}

const figureOf = (figures: readonly PublishedFigure[], reading: string): PublishedFigure =>
  figures.find((f) => f.reading === reading)!;
/** The noise scale of the paper for one chunk: the sum (or the largest row sum) of the coefficients of its edges, over epsilon. All cells are positive. */
async function scaleOf(table: CodedTable, reading: string, epsilon: number): Promise<number> {
  const [chunk] = await learnTabular({ ...table, levels: table.levels.map(() => 2) }, 10);
  const rows = table.names.map(() => 0);
  let sum = 0;
  for (const [child, parents] of chunk!.parents.entries())
    for (const parent of parents) {
      const share = (v: number, d: number) => {
        const given = Array.from(table.columns[parent]!, (x, r) => [x, table.columns[child]![r]!] as const);
        const own = given.filter(([x]) => x === v);
        return own.filter(([, y]) => y === d).length / (reading === 'joint' ? given.length : own.length);
      };
      const ratios = [0, 1].map((d) => Math.abs(Math.log(share(0, d) / share(1, d))));
      const coefficient = Math.min(Math.max(...ratios), reading === 'clipped' ? 1 : Number.POSITIVE_INFINITY);
      sum += coefficient;
      rows[parent]! += coefficient;
      rows[child]! += coefficient;
    }
  return (reading === 'max-row' ? Math.max(...rows) : sum) / epsilon;
}

/** Variance of whole-number noise k with probability in proportion to e^(-|k| / scale), by its sum. */
function discreteVariance(scale: number): number {
  const weights = Array.from({ length: 2001 }, (_, k) => [k - 1000, Math.exp(-Math.abs(k - 1000) / scale)] as const);
  const total = weights.reduce((sum, [, w]) => sum + w, 0);
  return weights.reduce((sum, [k, w]) => sum + (k * k * w) / total, 0);
}

const two = survey([
  [[0, 0], 70],
  [[0, 1], 30],
  [[1, 0], 30],
  [[1, 1], 70],
]);
const three = survey([
  [[0, 0, 0], 48],
  [[0, 0, 1], 12],
  [[0, 1, 0], 8],
  [[0, 1, 1], 32],
  [[1, 0, 0], 32],
  [[1, 0, 1], 8],
  [[1, 1, 0], 12],
  [[1, 1, 1], 48],
]);
const four = survey(
  [0, 1].flatMap((a) =>
    [0, 1].flatMap((b) =>
      [0, 1].flatMap((c) =>
        [0, 1].map((d) => [[a, b, c, d], (a === b ? 3 : 1) * (b === c ? 2 : 1) * (c === d ? 3 : 1)] as [number[], number]),
      ),
    ),
  ),
);

describe('the published mechanism, with fewer than five columns and no missing answers', () => {
  it.each([
    ['two', two],
    ['three', three],
    ['four', four],
  ] as const)('its noise and loss are finite and match an enumeration: %s columns', async (_, table) => {
    for (const epsilon of [0.5, 1]) {
      const figures = await judgePublished(table, epsilon);
      for (const reading of ['conditional', 'zeros-ignored', 'joint', 'max-row', 'clipped']) {
        const figure = figureOf(figures, reading);
        expect(figure.l2).toBeGreaterThan(0);
        const binary = { ...table, levels: table.levels.map(() => 2) };
        const loss = enumeratedLoss(binary, await scaleOf(table, reading, epsilon)) / epsilon;
        expect(figure.audit).toMatchObject({ surveys: 1 });
        expect(figure.audit.worst).toBeCloseTo(loss, 8);
        expect(figure.audit.broken).toBe(loss > 1 ? 1 : 0);
      }
    }
  });

  it('its sensitivity is the coefficient of its one edge: the odds of agreeing', async () => {
    const [figure] = await judgePublished(two, 1);
    const scale = Math.log(0.7 / 0.3);
    expect(await scaleOf(two, 'conditional', 1)).toBeCloseTo(scale, 12);
    expect(figure!.ratio).toBeCloseTo(Math.sqrt(discreteVariance(scale) / discreteVariance(4)), 9);
    expect(publishedText([figure!])).not.toContain('infinite');
  });

  it('its noise is infinite if an answer that somebody gave rules out another', async () => {
    const figures = await judgePublished(
      survey([
        [[0, 0], 60],
        [[1, 0], 20],
        [[1, 1], 40],
      ]),
      1,
    );
    expect(figureOf(figures, 'conditional').l2).toBeNull();
    expect(figureOf(figures, 'zeros-ignored').l2).toBeGreaterThan(0);
  });

  it('it loses everything without ties, because it adds no noise', async () => {
    const figures = await judgePublished(
      survey([
        [[0, 0], 50],
        [[0, 1], 50],
        [[1, 0], 50],
        [[1, 1], 50],
      ]),
      1,
    );
    expect(figureOf(figures, 'zeros-ignored').audit.worst).toBeNull();
  });

  it('the figure is reported as not audited if no group of columns is small enough', async () => {
    const wide = survey(
      Array.from({ length: 30 }, (_, k) => [[k, k], 20]),
      31,
    );
    const [figure] = await judgePublished(wide, 1);
    expect(figure!.audit).toEqual({ surveys: 0, broken: 0 });
    expect(publishedText([figure!])).toContain('not audited');
  });
});

describe('the exact loss of columns whose noise is very small', () => {
  it('the loss is a labelled lower bound that grows with the cost', () => {
    const joint = [70, 30, 30, 70];
    const at = (cost: number) => tabularLoss(joint, [2, 2], [cost, cost], 'uninformed');
    expect(at(100).atLeast).toBeUndefined();
    expect(at(900)).toMatchObject({ atLeast: true });
    expect(at(900).loss).toBeGreaterThanOrEqual(900);
  });
});
