import { describe, expect, it } from 'vitest';
import { largestJointChange } from './joint-change.js';

/**
 * Exhaustive attack on independent records with known totals. The mechanism is as sharp as a cost of `own` per replaced record
 * permits; the prior is hill-climbed towards the largest loss.
 */
interface Attacked {
  readonly records: number;
  /** Contribution of every value to the totals. */
  readonly adds: readonly (readonly bigint[])[];
  readonly own: number;
  /** Prior probability of each value of each record, before conditioning on the totals. */
  readonly beliefs: readonly (readonly number[])[];
  /** Data sets with the known totals; the target states of the answer. */
  readonly aim: readonly (readonly number[])[];
}

const range = (n: number) => Array.from({ length: n }, (_, k) => k);
const possible = (beliefs: Attacked['beliefs']): readonly (readonly number[])[] =>
  beliefs.reduce<readonly (readonly number[])[]>(
    (all, own) => all.flatMap((data) => own.flatMap((w, v) => (w > 0 ? [[...data, v]] : []))),
    [[]],
  );
const totalOf = (data: readonly number[], adds: Attacked['adds']): string =>
  adds[0]!.map((_, d) => data.reduce((sum, v) => sum + adds[v]![d]!, 0n)).join();
const differences = (a: readonly number[], b: readonly number[]) => a.filter((v, j) => v !== b[j]).length;

/** Largest privacy loss of one record over all sets of known others, separately for values of one kind and of two kinds. */
function lossOf({ records, adds, own, beliefs, aim }: Attacked): Parts {
  const known = totalOf(aim[0]!, adds);
  const states = [...possible(beliefs)].filter((data) => totalOf(data, adds) === known);
  const chance = states.map((data) => data.reduce((p, v, j) => p * beliefs[j]![v]!, 1));
  const likely = states.map((data) => Math.exp(-own * Math.min(...aim.map((t) => differences(data, t)))));
  let [within, across] = [0, 0];
  for (const i of range(records))
    for (let seen = 0; seen < 1 << records; seen++) {
      if (seen & (1 << i)) continue;
      const groups = new Map<string, Map<number, [number, number]>>();
      states.forEach((data, s) => {
        const key = data.map((v, j) => (seen & (1 << j) ? v : '')).join();
        const group = groups.get(key) ?? new Map<number, [number, number]>();
        groups.set(key, group);
        const sums = group.get(data[i]!) ?? [0, 0];
        group.set(data[i]!, [sums[0] + chance[s]!, sums[1] + chance[s]! * likely[s]!]);
      });
      for (const group of groups.values())
        for (const [a, [pa, qa]] of group)
          for (const [b, [pb, qb]] of group) {
            const loss = Math.log(qa / pa) - Math.log(qb / pb);
            if (adds[a]!.join() === adds[b]!.join()) within = Math.max(within, loss);
            else across = Math.max(across, loss);
          }
    }
  return { within, across };
}

/** Numbers that repeat from run to run. */
function random(seed: number): () => number {
  let x = seed >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

const climbs = Number(process.env.FUGU_CLIMBS ?? 600);
const oneHot = (kinds: number, payload: number) =>
  range(kinds * payload).map((v) => range(kinds).map((k) => (k === Math.floor(v / payload) ? 1n : 0n)));

type Parts = { readonly within: number; readonly across: number };

/** Largest ratio of loss to bound over many hill-climbed models. */
function climb(adds: Attacked['adds'], records: number, bound: (own: number) => Parts, models: number): Parts {
  const next = random(records * 7919 + adds.length);
  const pick = (n: number) => Math.floor(next() * n);
  const weight = () => (next() < 0.5 ? 0 : next() < 0.5 ? 1 : 10 ** (3 * next() - 2));
  const fresh = (): Attacked => {
    const aim = range(1 + pick(2)).map(() => range(records).map(() => pick(adds.length)));
    const beliefs = range(records).map((j) => adds.map((_, v) => (aim[0]![j] === v ? 1 : weight())));
    return { records, adds, own: 0.2 + 1.5 * next(), beliefs, aim };
  };
  const near = (at: Attacked): Attacked => {
    const [j, v] = [pick(records), pick(adds.length)];
    if (next() < 0.2) return { ...at, aim: [at.aim[0]!, ...(next() < 0.5 ? [] : [range(records).map(() => pick(adds.length))])] };
    const changed = at.beliefs.map((own, r) => own.map((w, x) => (r === j && x === v && at.aim[0]![r] !== x ? weight() : w)));
    return { ...at, beliefs: changed };
  };
  const parts = (at: Attacked): Parts => {
    const found = lossOf(at);
    const most = bound(at.own);
    return { across: found.across / most.across, within: found.within / most.within };
  };
  let most: Parts = { within: 0, across: 0 };
  for (let m = 0; m < models; ) {
    let at = fresh();
    let best = parts(at);
    for (let step = 0; step < 30 && m < models; step++, m++) {
      const tried = near(at);
      const found = parts(tried);
      most = { within: Math.max(most.within, found.within), across: Math.max(most.across, found.across) };
      if (found.across >= best.across) [at, best] = [tried, found];
    }
  }
  return most;
}

describe('the privacy loss of one record with a known margin', () => {
  const slack = 1 + 1e-9;
  it.each([
    [2, 2, 4],
    [3, 2, 4],
    [3, 1, 5],
    [4, 1, 4],
  ])(
    'the privacy loss is at most the cost of as many records as there are kinds: %i kinds, %i values of each, %i records',
    (kinds, payload, records) => {
      const adds = oneHot(kinds, payload);
      const { most } = largestJointChange(range(kinds).map((k) => adds[k * payload]!))!;
      expect(most).toBe(kinds);
      const reached = climb(adds, records, (own) => ({ across: most * own, within: own }), Math.ceil(climbs / 4));
      expect(reached.across).toBeLessThanOrEqual(slack);
      expect(reached.within).toBeLessThanOrEqual(slack);
      if (process.env.FUGU_CLIMBS) console.log(kinds, payload, records, reached);
      expect(reached.across).toBeGreaterThan(0.7);
    },
  );

  it('the privacy loss exceeds the cost of swapping two records if there are three kinds', () => {
    const found = climb(oneHot(3, 1), 3, (own) => ({ across: 2 * own, within: own }), 1500);
    expect(found.across).toBeGreaterThan(1.4);
  });

  it('the privacy loss exceeds the cost of replacing one record', () => {
    const found = climb(oneHot(2, 1), 3, (own) => ({ across: own, within: own }), 300);
    expect(found.across).toBeGreaterThan(1.9);
  });
});
