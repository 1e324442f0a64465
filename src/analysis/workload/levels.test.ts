import { describe, expect, it } from 'vitest';
import { partCells } from '../../privacy/mechanism/residual/layout.js';
import type { AxisGrid } from './axes.js';
import { combineParts, tableFrom, variancesOf } from './estimate.js';
import type { WorkloadTable } from './form.js';
import { nestedAxes, valuesView } from './levels.js';
import { type AxisView, evaluateViews, type PlacedView, variancesIn } from './linear-query.js';
import { gridFor, rangesView, spansOf } from './ranges.js';
import { plainLayout, residualLayout, varianceTerms, weightedVariance } from './residual-layout.js';

const towns = ['a', 'b', 'c', 'd', 'e', 'f', '(missing)'];
const { grid, views: levels } = nestedAxes('town', towns, [
  ['district', { d1: ['c', 'a', 'f'], d2: ['b'], d3: ['d', 'e'] }],
  ['region', { north: ['d1', 'd3'], south: ['d2'] }],
]);
const ages = ['0', '1', '2', '3', '4', '5', '6', '(missing)'];
const byDigits: AxisGrid = { sizes: [3, 3], at: ages.map((_, k) => k) };
const spans = spansOf('age', ages, 'all');

const sizes = [...grid.sizes, 2, ...byDigits.sizes];
const place = (first: number, view: AxisView): PlacedView => ({ view, axes: view.sizes.map((_, k) => first + k) });
const table = (weight: number, ...views: PlacedView[]): WorkloadTable => ({
  axes: views.flatMap(({ axes }) => axes),
  weight,
  views,
});
const [town, district, region] = [valuesView('town', towns, grid), ...levels].map((view) => place(0, view));
const sex = place(3, { name: 'sex', labels: ['f', 'm'], sizes: [2] });
const range = place(4, rangesView('range', ages, byDigits, spans));
const age = place(4, valuesView('age', ages, byDigits));
const tables = [
  table(1, town!, sex),
  table(2, district!, range),
  table(1, region!, sex, age),
  table(3, region!),
  table(1, district!, sex),
];

describe('queries on levels and ranges', () => {
  it.each([
    ['without smaller tables', residualLayout({ sizes, tables }, 'replaced')],
    ['every table by itself', plainLayout({ sizes, tables }, 'zcdp')],
  ])('the variance of a query includes all noises that enter it: %s', (_, layout) => {
    const variances = variancesOf(layout);
    let weighted = 0;
    for (const { axes, views, weight } of tables) {
      const computed = variancesIn(views, (text) => variances.get(text)!);
      const read = (numbers: readonly (readonly number[])[]) =>
        evaluateViews(views, tableFrom(combineParts(layout, numbers, 1), axes));
      const nothing = layout.parts.map((part) => new Array<number>(partCells(sizes, part)).fill(0));
      const squares = new Float64Array(computed.length);
      for (const [k, list] of nothing.entries())
        for (const cell of list.keys())
          for (const [r, x] of read(nothing.map((own, i) => (i === k ? own.with(cell, 1) : own))).entries())
            squares[r]! += x ** 2;
      for (const [r, variance] of computed.entries()) expect(variance / squares[r]!).toBeCloseTo(1, 8);
      weighted += weight * computed.reduce((a, b) => a + b, 0);
    }
    expect(weightedVariance({ sizes, tables }, layout) / weighted).toBeCloseTo(1, 10);
  });

  it('a query is exact without noise, and every level adds up to the one above it', () => {
    const counts = towns.map((_, k) => 7 * k + 3);
    const numbers = new Float64Array(grid.sizes.reduce((n, m) => n * m, 1));
    for (const [k, at] of grid.at.entries()) numbers[at] = counts[k]!;
    expect([...evaluateViews([town!], numbers)].map((x) => Math.round(1e9 * x) / 1e9)).toEqual(counts);
    // Noise everywhere, also where no row can be.
    const noisy = numbers.map((x, k) => x + Math.sin(5 * k));
    const over = (axes: number) => {
      const cells = grid.sizes.slice(0, axes).reduce((n, m) => n * m, 1);
      return Float64Array.from({ length: cells }, (_, cell) =>
        noisy.slice((cell * noisy.length) / cells, ((cell + 1) * noisy.length) / cells).reduce((a, b) => a + b, 0),
      );
    };
    const [values, districts, regions] = [
      evaluateViews([town!], noisy),
      evaluateViews([district!], over(2)),
      evaluateViews([region!], over(1)),
    ];
    const sum = (list: Float64Array, places: readonly number[]) => places.reduce((s, k) => s + list[k]!, 0);
    expect(districts[0]).toBeCloseTo(sum(values, [2, 0, 5]), 9);
    expect(districts[1]).toBeCloseTo(values[1]!, 9);
    expect(regions[0]).toBeCloseTo(sum(districts, [0, 2]), 9);
    expect(regions[1]).toBeCloseTo(districts[1]!, 9);
    expect(regions[2]).toBeCloseTo(values[6]!, 9);
  });

  it("a query is a range when it is the sum of the range's values", () => {
    const numbers = Float64Array.from({ length: 9 }, (_, k) => (k < 8 ? k * k : 0));
    const answers = evaluateViews([range], numbers);
    for (const [k, [from, to]] of spans.entries()) {
      const exact = ages.slice(from, to + 1).reduce((s, label) => s + Number(label) ** 2, 0);
      expect(answers[k]).toBeCloseTo(exact, 9);
    }
    expect(range.view.labels).toContain('2 to 5');
  });
});

describe('ranges', () => {
  const labels = (n: number) => Array.from({ length: n }, (_, k) => `${k}`);
  /**
   * Root mean square error of all ranges at rho = 1/2 under add-or-remove: of the layout, and of the best weights for the levels of a
   * tree of the same axes.
   */
  const errorsOn = (own: AxisGrid, n: number) => {
    const view = rangesView('x', labels(n), own, spansOf('x', labels(n), 'all'));
    const requested = { sizes: own.sizes, tables: [table(1, place(0, view))] };
    const layout = residualLayout(requested, 'removed');
    const cost = (axes: readonly number[]) => axes.reduce((x, axis) => x * (1 - 1 / own.sizes[axis]!), 1);
    const moved = layout.parts.reduce((sum, { axes, scale }) => sum + Number(scale) ** 2 * cost(axes), 0);
    const levels = new Map<number, { cost: number; adds: number }>();
    for (const { axes, times } of varianceTerms(own.sizes, requested.tables[0]!)) {
      const level = levels.get(axes.at(-1) ?? -1) ?? { cost: 0, adds: 0 };
      levels.set(axes.at(-1) ?? -1, { cost: level.cost + cost(axes), adds: level.adds + times });
    }
    const tree = [...levels.values()].reduce((sum, level) => sum + Math.sqrt(level.cost * level.adds), 0);
    return {
      found: Math.sqrt((weightedVariance(requested, layout) * moved) / view.labels.length),
      tree: tree / Math.sqrt(view.labels.length),
    };
  };
  it.each([
    [16, 2],
    [64, 2.8],
    [128, 3.3],
  ])('ranges of %i values use the order of axes with the least error, below that of any weights of a tree', (n, most) => {
    const chosen = gridFor(n, spansOf('x', labels(n), 'all'));
    expect(chosen.sizes.length).toBeGreaterThan(1);
    const [own, flat] = [errorsOn(chosen, n), errorsOn({ sizes: [n], at: chosen.at }, n)];
    if (process.env.FUGU_FIGURES) console.log(n, chosen.sizes, own, flat);
    expect(own.found).toBeLessThan(most);
    expect(own.found).toBeLessThan(0.95 * flat.found);
    expect(own.found).toBeLessThan(1.002 * own.tree);
    for (const sizes of [
      [Math.ceil(n / 4), 4],
      [Math.ceil(n / 8), 4, 2],
    ])
      expect(own.found).toBeLessThan(1.002 * errorsOn({ sizes, at: chosen.at }, n).found);
  });
  it.each([
    ['[["5", "2"]]', [['5', '2']]],
    ['[["2", "(missing)"]]', [['2', '(missing)']]],
    ['[["2", "nine"]]', [['2', 'nine']]],
  ] as const)('the range list is refused: %s', (_, requested) => {
    expect(() => spansOf('age', ages, requested)).toThrow(/a range goes from a value/);
  });
});
