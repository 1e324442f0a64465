import { one } from '../../src/base/exact/rational.js';
import type { Cell } from '../../src/data/engine/engine.js';
import { independentGiven, largestGain } from '../../src/evaluate/attack/inference/record-states.js';
import { releasedNumbers } from '../../src/evaluate/attack/inference/released-numbers.js';
import type { Policy } from '../../src/policy/policy.js';
import { nothingSpent } from '../../src/privacy/mechanism/privacy-cost.js';
import { bindBatch } from '../../src/query/bind.js';
import type { Measure, MechanismOf } from '../../src/query/count/measure.js';
import { parseBatch } from '../../src/query/parse.js';
import { chooseNoise } from '../../src/release/accountant/choose.js';
import { policyWith, sequence, strangersOf } from './bench.js';
import type { Figure } from './distributions.js';

/**
 * Inference audit under totals that everybody knows. The attacker has any prior over a few records, knows some of them,
 * and conditions on the totals; the change in odds is compared with epsilon. The prior is optimised by hill climbing.
 */
const cells = [['n', 's', null], ['y', null], [0, 1, 2, null]] as const; // biome-ignore format: one line
/** Every row of a region, whether somebody is ill, and a number. */
export const smallRows: readonly (readonly Cell[])[] = cells[0].flatMap((r) =>
  cells[1].flatMap((i) => cells[2].map((x) => [r, i, x])),
);
const smallColumns =
  'region: { type: category, values: [n, s] }, ill: { type: category, values: [y] }, x: { type: integer, bounds: [0, 2] }';
const inNorth = [{ column: 'region', op: '=', value: 'n' }];

/**
 * At least one query of every kind. The third follows from the margin of regions;
 * the second and the sixth are about one of its cells.
 */
export const smallQuestions = [
  { kind: 'count', where: [{ column: 'ill', op: '=', value: 'y' }] },
  { kind: 'count', where: inNorth, by: ['ill'] },
  { kind: 'count', by: ['region'] },
  { kind: 'sum', column: 'x' },
  { kind: 'sum', column: 'x', by: ['region'] },
  { kind: 'mean', column: 'x', where: inNorth },
  { kind: 'mean', column: 'x', by: ['ill'] },
  { kind: 'variance', column: 'x' },
  { kind: 'share', column: 'ill', values: ['y'] },
  { kind: 'share', column: 'ill', values: ['y'], by: ['region'] },
  { kind: 'histogram', column: 'x' },
  { kind: 'crosstab', columns: ['region', 'ill'] },
  { kind: 'cdf', column: 'x' },
  { kind: 'cdf', column: 'x', by: ['region'] },
  { kind: 'ranges', column: 'x', ranges: [[1, 2]] },
  { kind: 'quantile', column: 'x', at: [0.5] },
  { kind: 'quantile', column: 'x', at: [0.25], by: ['ill'] },
  { kind: 'distinct', column: 'x' },
  {
    kind: 'formula',
    parts: { all: { kind: 'sum', column: 'x' }, own: { kind: 'count' } },
    of: { op: '/', of: ['all', 'own'] },
    by: ['ill'],
  },
];

export interface Totals {
  readonly known: readonly object[];
  /** Contribution of a row, computed independently of the product. */
  readonly adds: (row: readonly Cell[]) => readonly number[];
}
const hot = (list: readonly Cell[], v: Cell | undefined): readonly number[] => list.map((x) => (x === v ? 1 : 0));
export const byRegion: Totals = { known: [{ margin: ['region'] }], adds: ([r]) => hot(cells[0], r) };
export const totalOf = ({ adds }: Totals, state: readonly number[]): string => {
  const all = state.map((row) => adds(smallRows[row]!));
  return all[0]!.map((_, d) => all.reduce((sum, list) => sum + list[d]!, 0)).join();
};

export type Tell = ReturnType<typeof releasedNumbers>;
export const planned = (policy: Policy, batch: readonly object[]): readonly [readonly Measure[], readonly MechanismOf[]] => {
  const { measures } = bindBatch(parseBatch(batch), policy);
  return [measures, chooseNoise(measures, strangersOf(policy), one, nothingSpent)[0]!.mechanisms];
};
export const releasedBy = (policy: Policy, batch: readonly object[]): Tell =>
  releasedNumbers(policy, ...planned(policy, batch), smallRows);

/**
 * Largest privacy loss about one row over optimised priors of an attacker who conditions on the totals;
 * stops at `enough`.
 */
export function gained(totals: Totals, tell: Tell, models: number, { records = 4, enough = 100 } = {}): number {
  const next = sequence(7);
  const pick = (n: number) => Math.floor(next() * n);
  const weight = () => (next() < 0.5 ? 1 : 10 ** (2 * next() - 1));
  let most = 0;
  const attack = (truth: readonly number[], beliefs: readonly (readonly number[])[]) => {
    const known = totalOf(totals, truth);
    const few = independentGiven(beliefs, (state) => totalOf(totals, state) === known);
    return largestGain(few, tell(few), () => 1, { outcomes: 60, starts: 1, random: next });
  };
  for (let m = 0; m < models && most < enough; ) {
    // A ring: everybody may live in the next one's region with another value. Either all of them change, or none.
    const others = smallRows.length / cells[0].length;
    const [from, to, round] = [pick(others), pick(others), 2 + pick(2)];
    const truth = Array.from({ length: records }, (_, j) => (j < round ? j * others + from : pick(smallRows.length)));
    let beliefs: readonly (readonly number[])[] = truth.map((own, j) =>
      smallRows.map((_, row) => (row === own || (j < round && row === ((j + 1) % round) * others + to) ? 1 : 0)),
    );
    let best = attack(truth, beliefs);
    most = Math.max(most, best);
    for (let step = 0; step < 12 && m < models; step++, m++) {
      const [j, row] = [pick(records), pick(smallRows.length)];
      const other = beliefs.map((list, k) =>
        k === j ? list.map((w, r) => (r === truth[k] ? w : r === row ? (w > 0 ? 0 : weight()) : w)) : list,
      );
      const found = attack(truth, other);
      most = Math.max(most, found);
      if (found >= best) [beliefs, best] = [other, found];
    }
  }
  return most;
}

const wordsOf = ({ kind, ...more }: object & { readonly kind: string }): string =>
  `${kind} ${Object.values(more).map((v) => JSON.stringify(v).replaceAll('"', '')).join(' ')}`; // biome-ignore format: one line

/**
 * Privacy loss against an attacker who knows the population of each of three regions, where epsilon 1 is promised:
 * under a policy without the known totals, and under one that declares them.
 */
export async function attackFigures(models: number): Promise<readonly Figure[]> {
  const plain = await policyWith(smallColumns, '', '1');
  const declared = await policyWith(smallColumns, '', '1', 'known: [{ margin: [region] }]');
  return [
    ['question', 'margin not declared', 'declared as known'],
    ...smallQuestions.map((query) => [
      wordsOf(query),
      ...[plain, declared].map((policy) => gained(byRegion, releasedBy(policy, [query]), models)),
    ]),
  ];
}
