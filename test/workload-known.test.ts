import { afterAll, describe, expect, it, vi } from 'vitest';
import { readWorkload } from '../src/analysis/workload/form.js';
import { residualLayout } from '../src/analysis/workload/residual-layout.js';
import { workloadChanges } from '../src/analysis/workload/strategy-choice.js';
import { estimated } from '../src/app/api/estimate.js';
import { workload as kind } from '../src/app/api/kinds/workload.js';
import { encode, placesWithout, type ResidualLayout } from '../src/privacy/mechanism/residual/layout.js';
import { layoutSensitivity } from '../src/privacy/mechanism/residual/row-sensitivity.js';
import { knownPolicy } from './known-policy.js';
import { category } from './sample-policy.js';
import { openWorkshop, type Workshop } from './workshop.js';

// Seeded noise: every run draws the same.
vi.mock('../src/privacy/noise/bits.js', async (original) =>
  (await import('./seeded-source.js')).seededNoise(await original<typeof import('../src/privacy/noise/bits.js')>(), 3),
);

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

/** Contribution of one row to the noisy vector. */
function rowVector({ sizes, parts }: ResidualLayout, row: readonly number[]): readonly bigint[] {
  const full = new Array<bigint>(sizes.reduce((n, m) => n * m, 1)).fill(0n);
  full[row.reduce((at, place, k) => at * sizes[k]! + place, 0)] = 1n;
  return parts.flatMap((part) => {
    const { at, cells } = placesWithout(
      sizes,
      sizes.reduce((set, _, k) => (part.axes.includes(k) ? set : set | (1 << k)), 0),
    );
    const sums = new Array<bigint>(cells).fill(0n);
    full.forEach((x, cell) => {
      sums[at[cell]!]! += x;
    });
    return encode(sizes, part, sums);
  });
}

it('the cost covers as many rows as change together under known totals: no change that keeps them exceeds it', () => {
  const policy = knownPolicy([category('region', ['n', 's']), category('x', ['1', '2'])], [{ margin: ['region'] }]);
  const workload = readWorkload(policy, { tables: [{ by: ['region', 'x'] }] });
  const layout = residualLayout({ ...workload, known: [0] }, 'replaced');
  const [change] = workloadChanges(policy, workload);
  expect(change!.rows).toBe(3);
  const booked = BigInt(change!.rows) ** 2n * layoutSensitivity(layout, 'replaced').l2squared;
  // One row of every region becomes another of that region.
  let moved: bigint[][] = [rowVector(layout, [0, 0]).map(() => 0n)];
  for (let region = 0; region < 3; region++) {
    const rows = [0, 1, 2].map((x) => rowVector(layout, [region, x]));
    const moves = rows.flatMap((from) => rows.map((to) => to.map((v, k) => v - from[k]!)));
    moved = moved.flatMap((before) => moves.map((move) => before.map((v, k) => v + move[k]!)));
  }
  const most = moved.map((v) => v.reduce((s, x) => s + x * x, 0n)).reduce((a, b) => (a > b ? a : b));
  expect(most > 0n).toBe(true);
  expect(most <= booked).toBe(true);
});

describe('a workload under known totals', () => {
  const rows = 3_000;
  const row = (i: number) => [
    ['n', 's', 'w'][i % 3]!,
    i % 11 === 0 ? '' : ['1', '2', '3'][(i * 7 + (i >> 3)) % 3]!,
    `${(i >> 2) % 2}`,
  ];
  const open = (known: string) => {
    const shop = openWorkshop(`data: { source: p.csv }
protect: { secret: row }
budget: { epsilon: 40, delta: 1e-6 }
population: town
ledger: ledger.db
dependence: none
columns:
  region: { type: category, values: [n, s, w] }
  x: { type: category, values: ["1", "2", "3"] }
  y: { type: category, values: ["0", "1"] }
known: ${known}
`);
    shops.push(shop);
    shop.write('p.csv', `region,x,y\n${Array.from({ length: rows }, (_, i) => row(i).join()).join('\n')}\n`);
    return shop.session();
  };
  const request = { workload: { tables: [{ all: 2 }, { by: ['region'] }] } };
  const count = (names: readonly string[], keys: readonly string[]) =>
    Array.from({ length: rows }, (_, i) => row(i)).filter((own) =>
      names.every((name, k) => (own[['region', 'x', 'y'].indexOf(name)] || '(missing)') === keys[k]),
    ).length;

  it('the workload agrees with the totals, returns them without noise, and its intervals cover the truth', async () => {
    const session = await open('[{ margin: [region] }]');
    let [held, answers] = [0, 0];
    for (let turn = 0; turn < 12; turn++)
      for (const tidy of [false, true]) {
        const { tables } = await kind.release(session, request, { epsilon: '2', fresh: !tidy, tidy });
        const region = tables.find(({ name }) => name === 'region')!;
        for (const { keys, value, standardError } of region.rows) {
          expect(value).toBeCloseTo(count(['region'], keys), 3);
          expect(standardError).toBe(0);
        }
        for (const { name, rows: list } of tables) {
          const names = name.split(' x ');
          if (names.includes('region') && names.length === 2)
            for (const own of ['n', 's', 'w', '(missing)']) {
              const sum = list
                .filter(({ keys }) => keys[names.indexOf('region')] === own)
                .reduce((s, { value }) => s + value!, 0);
              expect(Math.abs(sum - count(['region'], [own]))).toBeLessThan(1e-3);
            }
          if (names.length === 2)
            for (const { keys, low, high } of list) {
              const truth = count(names, keys);
              held += Number(truth >= low! - 1e-9 && truth <= high! + 1e-9);
              answers++;
            }
        }
      }
    expect(held / answers).toBeGreaterThan(0.92);
    expect(held / answers).toBeLessThan(0.99);
    const plan = await kind.plan(session, request, { epsilon: '2' });
    expect(plan.errors.find(({ name }) => name === 'region')!.standardError).toBe(0);
    const { tables } = await estimated(session, { workload: request.workload });
    expect(tables.find(({ name }) => name === 'region')!.rows[0]!.value).toBeCloseTo(count(['region'], ['n']), 3);
    await session.close();
  });

  it('the cost covers all rows that change together if the totals are no margin', async () => {
    const errorOf = async (known: string) => {
      const session = await open(known);
      const { errors } = await kind.plan(session, { workload: { tables: [{ by: ['x', 'y'] }] } }, { epsilon: '2' });
      await session.close();
      return errors[0]!.standardError;
    };
    const [two, four] = [await errorOf('[{ count: { where: { x: ["1"] } } }]'), await errorOf('[{ margin: [region] }]')];
    expect(four / two).toBeGreaterThan(1.8);
    expect(four / two).toBeLessThan(2.2);
  });
});
