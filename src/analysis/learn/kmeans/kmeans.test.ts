import { afterAll, describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../../test/sample-policy.js';
import { openWorkshop, policyYaml } from '../../../../test/workshop.js';
import { type Rational, rational } from '../../../base/exact/rational.js';
import { pure } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { nearestCentroids, packedCentroids } from './centroids.js';
import { cellCloud, cellCounts, reconcileCounts, sumUpwards } from './grid.js';
import { chooseVariant, planKmeans, releaseKmeans } from './kmeans.js';
import { noisyLloyd } from './lloyd.js';
import { pointBox } from './points.js';
import { clusterWeighted, weightedLloyd } from './weighted-lloyd.js';

const blobs = [
  [20, 20],
  [80, 30],
  [50, 85],
] as const;
const csv = `id,x,y\n${Array.from({ length: 3000 }, (_, i) => {
  const [cx, cy] = blobs[i % 3]!;
  return `p${i >> 1},${cx + ((i * 7) % 9) - 4},${i % 100 === 0 ? '' : cy + ((i * 5) % 9) - 4}`;
}).join('\n')}\n`;
const yaml = (more: Parameters<typeof policyYaml>[0] = {}) =>
  policyYaml(more).replace(
    /columns:[\s\S]*$/,
    `columns:
  x: { type: integer, bounds: [0, 100] }
  y: { type: integer, bounds: [0, 100] }
`,
  );
const whole = csv
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split(',').slice(1))
  .filter(([, y]) => y !== '');
const points = {
  dimensions: 2,
  count: whole.length,
  coordinates: Int32Array.from(whole.flat(), (v) => 2 * Number(v) - 100),
};
const shops: { remove(): void }[] = [];
async function open(more: Parameters<typeof policyYaml>[0] = {}) {
  const shop = openWorkshop(yaml(more));
  shops.push(shop);
  shop.write('people.csv', csv);
  return shop.session();
}
afterAll(() => {
  for (const shop of shops) shop.remove();
});
const ask = { columns: ['x', 'y'], clusters: 3 };
const missed = (centres: readonly (readonly number[])[]) =>
  Math.max(...blobs.map((blob) => Math.min(...centres.map((c) => Math.hypot(c[0]! - blob[0], c[1]! - blob[1])))));

describe('the release of cluster centroids', () => {
  it('a release finds the clusters by halving, by the tree and by Lloyd, spends once and answers again from the record', async () => {
    const session = await open({ budget: '{ epsilon: 14 }' });
    const halving = await releaseKmeans(session, ask, { epsilon: '4' });
    expect(halving.result.variant).toBe('halving');
    expect(missed(halving.result.centres)).toBeLessThan(2);
    expect(halving.result.counts!.every((n) => Math.abs(n - 1000) < 100)).toBe(true);
    expect((await releaseKmeans(session, ask, { epsilon: '4' })).receipt.ledger.replayed).toBe(true);
    const tree = await releaseKmeans(session, { ...ask, variant: 'grid' }, { epsilon: '4' });
    expect(missed(tree.result.centres)).toBeLessThan(6);
    const lloyd = await releaseKmeans(session, { ...ask, clusters: 2, variant: 'lloyd', iterations: 7 }, { epsilon: '4' });
    expect(lloyd.result.counts).toHaveLength(2);
    // Lloyd may converge elsewhere than at the clusters; with little noise it converges as without noise.
    const plain = (exact: readonly bigint[]) => [...exact];
    const silent = () => ({ counts: plain, sums: [plain, plain] });
    const exact = noisyLloyd(points, [100, 100], 2, { rounds: 7, noise: silent, least: 20 }).centres.map((c) =>
      c.map((v) => 50 * (v + 1)),
    );
    exact.forEach((c, k) => {
      expect(Math.hypot(c[0]! - lloyd.result.centres[k]![0]!, c[1]! - lloyd.result.centres[k]![1]!)).toBeLessThan(8);
    });
    expect(lloyd.result.centres.flat().every((v) => v >= 0 && v <= 100)).toBe(true);
    await expect(releaseKmeans(session, { ...ask, clusters: 4 }, { epsilon: '4' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    await session.close();
  });

  it('a release works with Gaussian noise and with several rows per person', async () => {
    const session = await open({ budget: '{ epsilon: 8, delta: 1e-6 }', protect: '{ secret: person, unit: id, maxRows: 2 }' });
    const { result } = await releaseKmeans(session, ask, { epsilon: '8' });
    expect(missed(result.centres)).toBeLessThan(8);
    await session.close();
  });

  it('the plan depends on public numbers: persons are counted, not their rows', async () => {
    const protect = '{ secret: person, unit: id, maxRows: 2 }';
    const session = await open({ protect });
    const shop = openWorkshop(yaml({ protect }));
    shops.push(shop);
    // The last person has one row less.
    shop.write('people.csv', `${csv.trimEnd().split('\n').slice(0, -1).join('\n')}\n`);
    const other = await shop.session();
    for (const variant of ['auto', 'grid', 'halving', 'lloyd'])
      expect(await planKmeans(session, { ...ask, variant })).toEqual(await planKmeans(other, { ...ask, variant }));
    await session.close();
    await other.close();
  });

  it('invalid requests are refused before anything is spent', async () => {
    const session = await open();
    const wrong: [object, string][] = [
      [{ ...ask, clusters: 0 }, 'QUERY_INVALID'],
      [{ ...ask, columns: [] }, 'QUERY_INVALID'],
      [{ ...ask, columns: ['z'] }, 'COLUMN_UNKNOWN'],
      [{ ...ask, variant: 'best' }, 'QUERY_INVALID'],
    ];
    for (const [request, code] of wrong) await expect(releaseKmeans(session, request)).rejects.toMatchObject({ code });
    const small = openWorkshop(yaml());
    shops.push(small);
    small.write('people.csv', 'id,x,y\na,1,2\nb,3,4\n');
    const two = await small.session();
    await expect(releaseKmeans(two, ask)).rejects.toMatchObject({ code: 'QUERY_INVALID' });
    expect((await two.spent()).pure.perRecord.size + (await session.spent()).pure.perRecord.size).toBe(0);
    await two.close();
    await session.close();
    const flat = openWorkshop(yaml().replace('y: { type: integer, bounds: [0, 100] }', 'y: { type: integer, bounds: [7, 7] }'));
    shops.push(flat);
    await expect(flat.session()).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    expect(() => pointBox(samplePolicy([number('y', '7', '7')]), ['y'])).toThrow('The box is empty');
  });
});

/** Five round clusters, and the cost of the best centroids. */
function made(d: number, rows: number) {
  let state = 11;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const centres = Array.from({ length: 5 }, () => Array.from({ length: d }, () => 1.4 * uniform() - 0.7));
  const bell = () => uniform() + uniform() + uniform() + uniform() - 2;
  const coordinates = Int32Array.from({ length: rows * d }, (_, at) => {
    const x = centres[Math.floor(at / d) % 5]![at % d]! + 0.12 * bell();
    return 2 * Math.round(500 * (1 + Math.min(1, Math.max(-1, x)))) - 1000;
  });
  const points = { dimensions: d, count: rows, coordinates };
  const floats = Float64Array.from(coordinates, (v) => v / 1000);
  const cost = (found: readonly (readonly number[])[]) => nearestCentroids(found, d, floats).gap.reduce((a, b) => a + b, 0);
  const names = Array.from({ length: d }, (_, c) => `x${c}`);
  const box = pointBox(samplePolicy(names.map((name) => number(name, '0', '1000'))), names);
  const ratio = (epsilon: Rational) => {
    const variant = chooseVariant({}, { box, clusters: 5, records: rows, rowsPerRecord: 1 }, { pure: pure(epsilon) });
    return cost(variant.prepare(new Payment(variant.mechanisms))(points).centres) / cost(centres);
  };
  return { ratio };
}

describe('the quality of centroids', () => {
  it('centroids in up to twelve dimensions are near the best at epsilon 1, and reach it as epsilon grows', () => {
    for (const d of [2, 4, 8, 12]) {
      const { ratio } = made(d, 8000);
      // Real noise: about one draw in fifty misses a cluster.
      expect(Math.min(ratio(rational(1)), ratio(rational(1)), ratio(rational(1))), `${d} dimensions`).toBeLessThan(1.25);
      expect(ratio(rational(1000)), `${d} dimensions`).toBeLessThan(1.01);
    }
  });
});

describe('the parts of k-means', () => {
  it('initial centroids are public, well separated and inside the box', () => {
    for (const d of [1, 2, 12, 40]) {
      const centres = packedCentroids(8, d);
      expect(centres.flat().every((v) => Math.abs(v) <= 0.9)).toBe(true);
      expect(new Set(centres.map((c) => c.join())).size).toBe(8);
    }
  });

  it('the levels of the count tree are consistent', () => {
    const rows = Array.from({ length: 500 }, (_, i) => [2 * ((i * 37) % 101) - 100, 2 * ((i * 53) % 101) - 100]);
    const points = { dimensions: 2, count: 500, coordinates: Int32Array.from(rows.flat()) };
    const levels = sumUpwards(cellCounts(points, [100, 100], 16), { dimensions: 2, sides: [2, 4, 8, 16] });
    expect(levels.map((l) => l.length)).toEqual([4, 16, 64, 256]);
    for (const level of levels) expect(level.reduce((a, b) => a + b, 0)).toBe(500);
    // Exact counts are consistent, so reconciling changes nothing.
    const cells = reconcileCounts(levels, [1, 1, 1, 1], { dimensions: 2, sides: [2, 4, 8, 16] }, 500);
    cells.forEach((c, i) => {
      expect(c).toBeCloseTo(levels[3]![i]!, 9);
    });
    expect(reconcileCounts(levels, [1, 1, 1, 1], { dimensions: 2, sides: [2, 4, 8, 16] }).reduce((a, b) => a + b, 0)).toBeCloseTo(
      500,
      9,
    );
  });

  it('cells are clustered even when noise leaves every count at zero', () => {
    expect(clusterWeighted(cellCloud(new Array<number>(16).fill(0), { dimensions: 2, sides: [2, 4] }), 3)).toHaveLength(3);
  });

  it('Lloyd iterations never worsen the clustering', () => {
    const points = Float64Array.from({ length: 120 }, (_, i) => (i % 2 ? Math.cos(i * i) : Math.sin(i)));
    const cost = (centres: readonly (readonly number[])[]) => nearestCentroids(centres, 2, points).gap.reduce((a, b) => a + b, 0);
    const start = packedCentroids(4, 2);
    const cloud = { dimensions: 2, points, weights: new Float64Array(60).fill(1) };
    expect(cost(weightedLloyd(cloud, start, 40).centres)).toBeLessThan(cost(start));
  });
});
