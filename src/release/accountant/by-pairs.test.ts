import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { compare, multiply, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import type { Cell } from '../../data/engine/engine.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { emptyBounds } from '../../privacy/dependence/bounds-cache.js';
import { fromPairs, untied } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { inDoubles, type NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import {
  costAlongPairs,
  nothingSpent,
  type PrivacyCost,
  pureCost,
  type SpentCosts,
  spend,
  zcdpCost,
} from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, paired, pairsClass } from '../../privacy/mechanism/record-class.js';
import { bindBatch } from '../../query/bind.js';
import type { Measure } from '../../query/count/measure.js';
import { rowCounter } from '../../query/count/row-counter.js';
import { parseBatch } from '../../query/parse.js';
import type { Account } from './account.js';
import { admission } from './admission.js';
import { admits } from './admits.js';
import { privacyLossBound } from './budget-state.js';
import { chooseNoise } from './choose.js';
import { openAccount } from './open-account.js';
import { usedShare } from './used-share.js';

const digest = 'abcd';
const pairsOf = (columns: Record<string, ColumnPairs>): Pairs => ({
  digest,
  columns: new Map(Object.entries(columns)),
  declarations: [],
});
const steps = (size: number, k: number): ColumnPairs => ({ form: 'steps', steps: k, missing: 'apart', size });
const columns = [number('age', '0', '90'), category('party', ['a', 'b'])];
const policyOf = (budget: string, delta = '0', tied = false): Policy => ({
  ...samplePolicy(columns, { pairs: pairsOf({ age: steps(91, 5) }) }),
  budget: { epsilon: parseRational(budget), delta: parseRational(delta) },
  ...(tied && { dependence: [{ kind: 'groups' }] }),
});
const shared = {
  scope: (r: string) => r === everyRecord,
  adversary: 'informed',
  reach: 'any',
  assumptions: [],
  method: '',
} as const;
const strangers = graphAmplifier({ ...shared, name: 'independent', graph: untied(1) }, emptyBounds);
const couples = (oddsRatio: number) =>
  graphAmplifier(
    { ...shared, name: 'ties', graph: fromPairs(2, Uint32Array.of(0), Uint32Array.of(1), Math.log(oddsRatio)) },
    emptyBounds,
  );
const measuresOf = (query: object, policy: Policy) => bindBatch(parseBatch(query), policy).measures;
const costing = (full: string, own?: string, key = digest): PrivacyCost =>
  pureCost([
    [everyRecord, parseRational(full)],
    ...(own === undefined ? [] : ([[paired(key), parseRational(full)]] as const)),
    ...(own === undefined || own === '0' ? [] : ([[pairsClass(key), parseRational(own)]] as const)),
  ]);
const spentOn = (...costs: readonly PrivacyCost[]): SpentCosts => costs.reduce(spend, nothingSpent);
const laplace = (distribution: NoiseDistribution): number =>
  distribution.kind === 'laplace' ? toNumber(distribution.scale) : Number.NaN;

describe('costs along pairs', () => {
  it('a cost along these pairs counts at its own value, and one without pairs or with others in full', () => {
    const spent = spentOn(costing('9', '0.5'), costing('0.25'), costing('0.125', '0.0625', 'other'));
    expect(toNumber(costAlongPairs(spent.pure, digest))).toBe(0.5 + 0.25 + 0.125);
    expect(toNumber(costAlongPairs(spent.pure, 'gone'))).toBe(9.375);
  });

  it('a release is admitted by its cost along pairs, however much any replacement costs', () => {
    const account = openAccount(policyOf('1'), [strangers]);
    const nine = Array.from({ length: 9 }, () => costing('5', '0.1'));
    expect(admits(account, spentOn(...nine, costing('0.1')))).toBe(true);
    expect(admits(account, spentOn(...nine, costing('0.1001')))).toBe(false);
    expect(admits(account, spentOn(...nine, costing('0.1', '0.1', 'other')))).toBe(true);
    expect(admits(account, spentOn(...nine, costing('5', '0.1', 'other')))).toBe(false);
    expect(toNumber(usedShare(account, spentOn(...nine)))).toBeCloseTo(0.9, 12);
    expect(privacyLossBound(account, spentOn(...nine))).toBeCloseTo(0.9, 12);
    const over = spentOn(...nine, costing('5', '0.2'));
    expect(() => admission(account, costing('5', '0.2'))(over, spentOn(...nine), over)).toThrow(/remaining 0.1/);
  });

  it('a policy without pairs counts costs along pairs in full', () => {
    const without = openAccount({ ...policyOf('1'), protect: { ...policyOf('1').protect, pairs: undefined } as never }, [
      strangers,
    ]);
    expect(admits(without, spentOn(costing('5', '0.1')))).toBe(false);
  });

  it('Gaussian noise counts its rho along pairs without ties, and its full rho with ties', () => {
    const gauss = (full: string, own: string): PrivacyCost =>
      zcdpCost([
        [everyRecord, parseRational(full)],
        [paired(digest), parseRational(full)],
        [pairsClass(digest), parseRational(own)],
      ]);
    const account = openAccount(policyOf('1', '1e-6'), [strangers]);
    const capacity = account.routes[0]!.gaussian!.capacity;
    const text = (k: number) => `${multiply(capacity, rational(k)).num}/${multiply(capacity, rational(k)).den}`;
    expect(admits(account, spentOn(gauss(text(50), text(1))))).toBe(true);
    expect(admits(account, spentOn(gauss(text(50), text(2))))).toBe(false);
    const tied = openAccount(policyOf('1', '1e-6', true), [couples(4)]);
    const most = tied.routes[0]!.gaussian!.capacity;
    expect(admits(tied, spentOn(gauss(`${2n * most.num}/${most.den}`, `${most.num}/${8n * most.den}`)))).toBe(false);
  });

  it('a cost under ties is the own cost and the part of all other costs that ties carry', () => {
    const account = openAccount(policyOf('1', '0', true), [couples(4)]);
    const t = couples(4);
    const limit = toNumber(t.largestBase(rational(1)));
    const all = `${Math.floor(limit * 1e6) / 1e6}`;
    expect(admits(account, spentOn(costing(all)))).toBe(true);
    expect(admits(account, spentOn(costing('0.8')))).toBe(false);
    expect(admits(account, spentOn(costing('0.8', '0.4')))).toBe(true);
    // A small cost along pairs does not help here: the odds ratio caps what a tie carries, not the record's own privacy loss.
    expect(admits(account, spentOn(costing('3', '0.1')))).toBe(t.along!(rational(3), parseRational('0.1')) <= 1);
    expect(admits(account, spentOn(costing('40', '0.9')))).toBe(false);
  });
});

describe('noise along pairs', () => {
  const scaleOf = (query: object, account: Account, policy: Policy) => {
    const [plan] = chooseNoise(measuresOf(query, policy), account, rational(1), nothingSpent);
    expect(plan!.fits).toBe(true);
    return plan!.mechanisms.map(({ distribution }) => laplace(distribution));
  };
  it('noise without ties is scaled to the largest step between pairs', () => {
    const policy = policyOf('1');
    expect(scaleOf({ kind: 'sum', column: 'age' }, openAccount(policy, [strangers]), policy)).toEqual([5]);
    const plain = samplePolicy(columns);
    expect(scaleOf({ kind: 'sum', column: 'age' }, openAccount(plain, [strangers]), plain)).toEqual([90]);
  });

  it('noise under ties falls with the length of pairs, down to the part that ties carry', () => {
    const scale = (within: number, odds: number) => {
      const policy: Policy = {
        ...policyOf('1', '0', true),
        protect: { ...policyOf('1').protect, pairs: pairsOf({ age: steps(91, within) }) },
      };
      return scaleOf({ kind: 'sum', column: 'age' }, openAccount(policy, [couples(odds)]), policy)[0]!;
    };
    const list = [90, 45, 5, 1].map((within) => scale(within, 9));
    expect([...list].sort((a, b) => b - a)).toEqual(list);
    expect(list[0]! / list[3]!).toBeGreaterThan(1.5);
    // Without ties a scale of 5 would do; the privacy loss over the tie needs more.
    expect(scale(5, 9)).toBeGreaterThan(5);
  });

  it('measures share the budget, and one with zero sensitivity along pairs takes no share', () => {
    const policy = policyOf('1', '0', true);
    const account = openAccount({ ...policy, dependence: [] }, [strangers]);
    const query = [{ kind: 'sum', column: 'age' }, { kind: 'count' }];
    // Bound under ties, the count has a sensitivity although it is zero along pairs.
    const measures = bindBatch(parseBatch(query), policy).measures;
    const [plan] = chooseNoise(measures, account, rational(1), nothingSpent);
    expect(plan!.mechanisms.map(({ distribution }) => laplace(distribution))).toEqual([5, 1]);
    expect(toNumber(costAlongPairs(plan!.cost, digest))).toBe(1);
  });

  it('noise after earlier costs is admitted exactly while the budget lasts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('sum', 'count', 'mean'), fc.integer({ min: 1, max: 9 })), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.boolean(),
        (requests, tied) => {
          const policy = policyOf('1', '0', tied);
          const account = openAccount(policy, [tied ? couples(9) : strangers]);
          let spent = nothingSpent;
          for (const [kind, share] of requests) {
            const query = kind === 'count' ? { kind, by: ['party'] } : { kind, column: 'age' };
            const [plan] = chooseNoise(measuresOf(query, policy), account, rational(share, 10), spent);
            if (!plan!.fits) return compare(usedShare(account, spend(spent, plan!.cost)), rational(1)) > 0;
            spent = spend(spent, plan!.cost);
          }
          return admits(account, spent) && privacyLossBound(account, spent) <= 1 + 1e-12;
        },
      ),
      { numRuns: 60 },
    );
  });
});

/**
 * Exact audit by enumeration: a batch is planned under pairs and ties and its noise added to every table of two people.
 * For every output, the odds of every pair of values of one person are computed, with the other's value known and unknown.
 */
describe('an exact audit of planned noise', () => {
  const values = [0, 1, 2, 3];
  const small = [number('x', '0', '3'), category('party', ['a', 'b'])];
  const policyWith = (pairs: Pairs): Policy => ({
    ...samplePolicy(small, { pairs }),
    budget: { epsilon: rational(1), delta: rational(0) },
    dependence: [{ kind: 'groups' }],
  });
  const cellsOf = (x: number): readonly Cell[] => [x, x % 2 === 0 ? 'a' : 'b'];
  const exactOf = (policy: Policy, measure: Measure, rows: readonly number[]): readonly number[] => {
    const counter = rowCounter([measure], ['x', 'party'], policy);
    const cells = rows.map(cellsOf);
    counter.add({ columns: [0, 1].map((j) => cells.map((r) => r[j]!)), rows: rows.length });
    return counter.totals()[0]!.map(Number);
  };
  /** Largest log odds over pairs, outputs and the knowledge of the other value. */
  function loss(
    policy: Policy,
    measure: Measure,
    scale: number,
    table: readonly (readonly number[])[],
    { columns: of }: Pairs,
  ): number {
    const pairs = of.get('x')!;
    const sameParty = of.has('party');
    const vector = values.map((a) => values.map((b) => exactOf(policy, measure, [a, b])));
    const width = vector[0]![0]!.length;
    const outputs = (k: number): readonly (readonly number[])[] => {
      const all = vector.flat().map((v) => v[k]!);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const here = Array.from({ length: high - low + 1 }, (_, j) => low + j);
      return k === width - 1 ? here.map((o) => [o]) : here.flatMap((o) => outputs(k + 1).map((rest) => [o, ...rest]));
    };
    const logLike = (o: readonly number[], v: readonly number[]) =>
      -o.reduce((sum, x, k) => sum + Math.abs(x - v[k]!), 0) / scale;
    const logMean = (weights: readonly number[], logs: readonly number[]): number => {
      const top = Math.max(...logs);
      const total = weights.reduce((sum, w) => sum + w, 0);
      return top + Math.log(weights.reduce((sum, w, k) => sum + w * Math.exp(logs[k]! - top), 0) / total);
    };
    let most = 0;
    for (const o of outputs(0)) {
      const logs = values.map((a) => values.map((b) => logLike(o, vector[a]![b]!)));
      const given = values.map((a) => logMean(table[a]!, logs[a]!));
      for (const a of values)
        for (const b of values)
          if (a !== b && Math.abs(a - b) <= (pairs.form === 'steps' ? pairs.steps : 0) && (!sameParty || (a - b) % 2 === 0))
            most = Math.max(most, given[a]! - given[b]!, ...values.map((c) => logs[a]![c]! - logs[b]![c]!));
    }
    return most;
  }
  /** Any table, its odds scaled until their largest ratio is the declared one. */
  const tableOf = (odds: number, raw: readonly number[]): readonly (readonly number[])[] => {
    const log = values.map((a) => values.map((b) => raw[4 * a + b]!));
    let most = 0;
    for (const a of values)
      for (const b of values)
        for (const c of values)
          for (const d of values) most = Math.max(most, log[a]![c]! + log[b]![d]! - log[a]![d]! - log[b]![c]!);
    return log.map((row) => row.map((x) => Math.exp(most === 0 ? 0 : (x * Math.log(odds)) / most)));
  };
  const run = (scaled: number): number => {
    let most = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 }),
        fc.constantFrom(2, 9, 81),
        fc.constantFrom({ kind: 'sum', column: 'x' }, { kind: 'count', by: ['party'] }, { kind: 'histogram', column: 'x' }),
        fc.array(fc.constantFrom(-1, 0, 1), { minLength: 16, maxLength: 16 }),
        (k, odds, query, raw) => {
          const pairs = pairsOf({
            x: steps(4, k),
            ...(k === 2 && { party: { form: 'same', missing: 'apart', size: 2 } as const }),
          });
          const policy = policyWith(pairs);
          const account = openAccount(policy, [couples(odds)]);
          const [measure] = measuresOf(query, policy);
          const [plan] = chooseNoise([measure!], account, rational(1), nothingSpent);
          const distribution = inDoubles(plan!.mechanisms[0]!.distribution);
          if (distribution.kind !== 'laplace') throw new Error('no Laplace noise');
          most = Math.max(most, loss(policy, measure!, distribution.scale * scaled, tableOf(odds, raw), pairs));
        },
      ),
      { numRuns: Number(process.env.FUGU_CLIMBS ?? 60) },
    );
    return most;
  };
  it('the audit finds a loss of at most epsilon, and not much less', { timeout: 3_600_000 }, () => {
    const most = run(1);
    if (process.env.FUGU_CLIMBS) console.log(`planned noise: at most ${most}`);
    expect(most).toBeLessThanOrEqual(1 + 1e-9);
    expect(most).toBeGreaterThan(0.6);
  });
  it('the audit finds noise that is too small', () => {
    expect(run(0.5)).toBeGreaterThan(1.01);
  });
});
