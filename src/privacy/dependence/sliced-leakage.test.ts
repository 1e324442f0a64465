import { describe, expect, it } from 'vitest';
import { rational, toNumberUp } from '../../base/exact/rational.js';
import { composeCosts, costBySlice, type PureCost, pureCost } from '../mechanism/privacy-cost.js';
import { everyRecord, slice, sliced, slicingOf } from '../mechanism/record-class.js';
import { costAt, type Slices } from '../mechanism/slices.js';
import type { SlicedBaseCost } from './base-cost.js';
import { fromPairs } from './graph/factor-graph.js';
import { graphAmplifier } from './graph-amplifier.js';

const week = slicingOf('week', 'd');
const weeks = 4;
const none = Number.NaN;

/** Release about a range of weeks, about records without a week, or about everybody. */
interface Release {
  readonly on: 'all' | 'none' | readonly [from: number, to: number];
  readonly cost: number;
}
interface World {
  /** Ties as pairs of records with their log odds ratio. */
  readonly ties: readonly (readonly [number, number, number])[];
  readonly values: Float64Array;
  readonly releases: readonly Release[];
}

/** Deterministic: a run of the test is the same everywhere. */
function randomly(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const records = 3;
function worldOf(random: () => number): World {
  const whole = (n: number) => Math.floor(random() * n);
  const pairs = [
    [0, 1],
    [1, 2],
    [0, 2],
  ] as const;
  return {
    ties: pairs.slice(0, 1 + whole(3)).map(([a, b]) => [a, b, Math.log([2, 4, 9, 81, 1e4][whole(5)]!)] as const),
    values: Float64Array.from({ length: records }, () => (random() < 0.15 ? none : whole(weeks))),
    releases: Array.from({ length: 1 + whole(5) }, () => {
      const [a, b] = [whole(weeks), whole(weeks)];
      const kind = random();
      const on = kind < 0.2 ? 'all' : kind < 0.3 ? 'none' : ([Math.min(a, b), Math.max(a, b)] as const);
      return { on, cost: 1 + whole(8) };
    }),
  };
}

const costOfRelease = ({ on, cost }: Release): PureCost => {
  const e = rational(cost, 10);
  if (on === 'all') return pureCost([[everyRecord, e]]);
  const own =
    on === 'none' ? slice(week, none, none) : slice(week, on[0], on[1] === weeks - 1 ? Number.POSITIVE_INFINITY : on[1]);
  return pureCost([
    [everyRecord, e],
    [sliced(week), e],
    [own, e],
  ]);
};
/** Cost of each record, added up over the releases directly. */
const paidIn = ({ values, releases }: World): number[] =>
  [...values].map((v) =>
    releases.reduce((sum, { on, cost }) => {
      const touched = on === 'all' || (on === 'none' ? Number.isNaN(v) : v >= on[0] && v <= on[1]);
      return sum + (touched ? cost / 10 : 0);
    }, 0),
  );

type Bound = (world: World, costs: Slices) => number;
const bound: Bound = (world, costs) => leak(world, { slicing: week, costs });
function leak({ ties, values }: World, base: SlicedBaseCost): number {
  return graphAmplifier({
    name: '',
    graph: fromPairs(
      records,
      Uint32Array.from(ties, ([a]) => a),
      Uint32Array.from(ties, ([, b]) => b),
      Float64Array.from(ties, ([, , d]) => d),
    ),
    values: new Map([[week, values]]),
    scope: (record) => record === everyRecord,
    adversary: 'informed',
    reach: 'any',
    assumptions: [],
    method: '',
  }).leakage(base);
}
const costsOf = ({ releases }: World): Slices =>
  costBySlice(releases.map(costOfRelease).reduce(composeCosts, pureCost([])), week);

/** Model within the declared odds ratios, target states, and the attacker's knowledge. */
interface Attack {
  readonly fields: readonly number[];
  /** Parts of the declared log odds ratios, -1 to 1. */
  readonly pulls: readonly number[];
  readonly aim: number;
  readonly known: number;
  readonly seen: number;
  readonly about: number;
}
const bit = (state: number, j: number) => (state >> j) & 1;
function gain({ ties }: World, spent: readonly number[], { fields, pulls, aim, known, seen, about }: Attack): number {
  if (bit(known, about) || aim === 0) return 0;
  const mass = [0, 0];
  const seenBy = [0, 0];
  for (let s = 0; s < 8; s++) {
    let [alike, log, distance] = [true, 0, Number.POSITIVE_INFINITY];
    for (let j = 0; j < records; j++) {
      if (bit(known, j) && bit(s, j) !== bit(seen, j)) alike = false;
      log += bit(s, j) * fields[j]!;
    }
    if (!alike) continue;
    ties.forEach(([a, b, d], k) => {
      log += ((bit(s, a) === bit(s, b) ? 1 : -1) * pulls[k]! * d) / 4;
    });
    for (let t = 0; t < 8; t++)
      if (bit(aim, t)) {
        let away = 0;
        for (let j = 0; j < records; j++) if (bit(s, j) !== bit(t, j)) away += spent[j]!;
        distance = Math.min(distance, away);
      }
    const p = Math.exp(log);
    mass[bit(s, about)]! += p;
    seenBy[bit(s, about)]! += p * Math.exp(-distance);
  }
  return Math.log(seenBy[1]! / mass[1]! / (seenBy[0]! / mass[0]!));
}

function climb(world: World, spent: readonly number[], random: () => number, steps: number): number {
  const whole = (n: number) => Math.floor(random() * n);
  let at: Attack = {
    fields: Array.from({ length: records }, () => 6 * random() - 3),
    pulls: world.ties.map(() => (random() < 0.7 ? 1 : 2 * random() - 1)),
    aim: 1 + whole(255),
    known: whole(8),
    seen: whole(8),
    about: whole(records),
  };
  let best = gain(world, spent, at);
  for (let k = 0; k < steps; k++) {
    const next: Attack = {
      fields: at.fields.map((x) => (random() < 0.5 ? x + (random() - 0.5) * 2 : x)),
      pulls: at.pulls.map((x) => (random() < 0.2 ? Math.max(-1, Math.min(1, x + random() - 0.5)) : x)),
      aim: random() < 0.3 ? at.aim ^ (1 << whole(8)) || 1 : at.aim,
      known: random() < 0.1 ? whole(8) : at.known,
      seen: random() < 0.1 ? whole(8) : at.seen,
      about: random() < 0.1 ? whole(records) : at.about,
    };
    const found = gain(world, spent, next);
    if (found > best) [at, best] = [next, found];
  }
  return best;
}

/** Number of hill-climbed attacks that exceed the bound, and the closest that any came to it. */
function attacked(against: Bound, models: number): { violations: number; closest: number } {
  const random = randomly(7);
  const steps = 100;
  let [violations, closest] = [0, 0];
  for (let k = 0; k < models; k += steps) {
    const world = worldOf(random);
    const most = against(world, costsOf(world));
    const measured = climb(world, paidIn(world), random, steps);
    if (measured > most + 1e-9) violations++;
    if (most > 0) closest = Math.max(closest, measured / most);
  }
  return { violations, closest };
}

/** FUGU_MODELS=100000 is the long run. */
const models = Number(process.env.FUGU_MODELS ?? 20_000);

describe('records whose costs depend on a public column', () => {
  it('a record pays the cost of the releases about its value and of those about everybody', () => {
    const random = randomly(3);
    for (let k = 0; k < 500; k++) {
      const world = worldOf(random);
      const costs = costsOf(world);
      expect([...world.values].map((v) => toNumberUp(costAt(costs, v)))).toEqual(paidIn(world).map((x) => expect.closeTo(x, 12)));
    }
  });

  it('no record leaks more than the bound, for any target, known records and beliefs', () => {
    const { violations, closest } = attacked(bound, models);
    expect(violations).toBe(0);
    expect(closest).toBeGreaterThan(0.999);
  });

  it('the leakage is at most that of the largest cost for all records, and grows with every cost', () => {
    const random = randomly(11);
    for (let k = 0; k < 60; k++) {
      const world = worldOf(random);
      const all = { ...world, releases: world.releases.map(({ cost }) => ({ on: 'all' as const, cost })) };
      expect(bound(world, costsOf(world))).toBeLessThanOrEqual(bound(world, costsOf(all)) + 1e-12);
      const more = { ...world, releases: [...world.releases, worldOf(random).releases[0]!] };
      expect(bound(more, costsOf(more))).toBeGreaterThanOrEqual(bound(world, costsOf(world)));
    }
  });

  const planted: Record<string, Bound> = {
    'a slice is forgotten': (world, { runs, missing }) => bound(world, { runs: runs.slice(1), missing }),
    'what everybody paid is dropped': (world) =>
      bound(world, costsOf({ ...world, releases: world.releases.filter(({ on }) => on !== 'all') })),
    'neighbours count for nothing': (world, costs) => bound({ ...world, ties: [] }, costs),
    'a run ends one too early': (world, { runs, missing }) =>
      bound(world, { runs: runs.map((run) => ({ ...run, to: run.to - 1 })), missing }),
  };
  it.each(Object.entries(planted))('the attack breaks a bound where %s', (_, wrong) => {
    expect(attacked(wrong, 20_000).violations).toBeGreaterThan(0);
  });
});
