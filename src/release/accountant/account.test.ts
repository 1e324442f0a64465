import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../../test/sample-policy.js';
import { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  divide,
  multiply,
  one,
  parseRational,
  type Rational,
  rational,
  sum,
  toNumber,
} from '../../base/exact/rational.js';
import type { Amplifier, MixedCost } from '../../privacy/dependence/amplifier.js';
import { commonBaseCost } from '../../privacy/dependence/base-cost.js';
import { fromPairs } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { leakageBounds as leakageOf } from '../../privacy/dependence/leakage.js';
import { roundUp } from '../../privacy/mechanism/distribution.js';
import { nothingSpent, type PrivacyCost, pureCost, spend, zcdpCost } from '../../privacy/mechanism/privacy-cost.js';
import { answersTo, everyRecord, type RecordClass, tuplesIn, usedMark } from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import { pureOfZcdp, zcdpOfPure } from '../../privacy/mechanism/zcdp-of-pure.js';
import type { Measure, SumMeasure } from '../../query/count/measure.js';
import type { Account } from './account.js';
import { admission } from './admission.js';
import { admits, coversClasses, spentUnder } from './admits.js';
import { allocate } from './allocate.js';
import { privacyLossBound } from './budget-state.js';
import { chooseNoise } from './choose.js';
import { guaranteeFor } from './guarantee.js';
import { openAccount } from './open-account.js';
import { usedShare } from './used-share.js';

const [a, b] = [answersTo('a'), answersTo('b')];
const asRho = ({ rho, pure, total }: MixedCost): Rational => total ?? add(rho, zcdpOfPure(pure));
/** Ties that multiply every pure cost by `factor`, and rho by its square: enough to test the bookkeeping. */
const times = (factor: number, more: Partial<Amplifier> = {}): Amplifier => ({
  name: `x${factor}`,
  scope: (c) => c === everyRecord,
  leakage: (base) => toNumber(commonBaseCost(base, more.scope ?? ((c) => c === everyRecord))) * factor,
  largestBase: (epsilon, parts) =>
    divide(multiply(epsilon, rational(1, factor)), parts ? commonBaseCost(parts, more.scope ?? (() => true)) : one),
  gaussian: [
    {
      conditions: [],
      delta: () => 0,
      epsilon: (spent) => factor * Math.sqrt(toNumber(asRho(spent))),
      largestRho: (epsilon) => multiply(multiply(epsilon, epsilon), rational(1, 20 * factor * factor)),
      counted: asRho,
      pureWithin: pureOfZcdp,
      method: '',
    },
  ],
  conditions: [],
  whatIf: () => [],
  factoredOnly: false,
  assumptions: [],
  method: '',
  ...more,
});
const accountOf = (epsilon: string, delta: string, amplifiers: Amplifier[]): Account =>
  openAccount({ ...samplePolicy([]), budget: { epsilon: parseRational(epsilon), delta: parseRational(delta) } }, amplifiers);
const histogram = (name: string, cells: number, classes: readonly RecordClass[] = [everyRecord]): SumMeasure => ({
  mechanism: 'additive',
  name,
  cells: Array.from({ length: cells }, (_, k) => [`${k}`]),
  grid: one,
  sensitivity: new Map(classes.map((c) => [c, { l1: 2n, l2squared: 2n }])),
  counting: { filter: [], keys: [], value: { kind: 'one' } },
});
const star = (cost: string) => pureCost([[everyRecord, parseRational(cost)]]);

describe('an account', () => {
  it('an account admits exactly the costs that fit, and refuses the next one with figures', () => {
    const account = accountOf('1', '0', [times(3)]);
    let spent = nothingSpent;
    for (let k = 0; k < 10; k++) spent = spend(spent, star('1/30'));
    expect(admits(account, spent)).toBe(true);
    expect(toNumber(usedShare(account, spent))).toBe(1);
    const more = star('1/3000');
    const after = spend(spent, more);
    expect(() => admission(account, more)(after, spent, after)).toThrow(Fault);
    try {
      admission(account, more)(after, spent, after);
    } catch (error) {
      expect((error as Fault).code).toBe('BUDGET_EXCEEDED');
      expect((error as Fault).details).toMatchObject({ spent: 1, remaining: 0, total: 1 });
      expect((error as Fault).details.asked).toBeCloseTo(0.001, 9);
    }
  });

  it('a refusal reports no negative cost when the budget was exceeded before', () => {
    const account = accountOf('1', '0', [times(1)]);
    const exceeded = spend(nothingSpent, star('1.05'));
    const more = zcdpCost([[everyRecord, parseRational('1/1000')]]);
    const after = spend(exceeded, more);
    const refused = (): Fault => {
      try {
        admission(account, more)(after, exceeded, after);
      } catch (error) {
        return error as Fault;
      }
      throw new Error('it was admitted');
    };
    expect(refused().message).toMatch(/it was exceeded before, requested 0, spent 1\.05 of 1, remaining 0/);
    expect(refused().details).toMatchObject({ asked: 0, remaining: 0 });
  });

  it('an account with Gaussian costs counts every pure draw at epsilon tanh(epsilon/2)', () => {
    const account = accountOf('1', '1e-6', [times(1)]);
    const pureOnly = spend(nothingSpent, star('0.9'));
    expect(admits(account, pureOnly)).toBe(true);
    expect(admits(account, spend(pureOnly, zcdpCost([[everyRecord, parseRational('0.001')]])))).toBe(false);
    const mixed = spend(spend(nothingSpent, star('0.2')), zcdpCost([[everyRecord, parseRational('0.03')]]));
    expect(admits(account, mixed)).toBe(true);
    expect(privacyLossBound(account, mixed)).toBeCloseTo(Math.sqrt(0.03 + 0.2 * Math.tanh(0.1)), 9);
  });

  it('one route is enough to admit a cost, and a factored route covers factored releases only', () => {
    const columns = times(1, { scope: (c) => c !== everyRecord, factoredOnly: true });
    const account = accountOf('1', '0', [times(5), columns]);
    const perColumn = (factored: boolean) =>
      spend(
        nothingSpent,
        pureCost(
          [
            [everyRecord, parseRational('0.9')],
            [a, parseRational('0.5')],
            [b, parseRational('0.4')],
          ],
          factored,
        ),
      );
    expect(admits(account, perColumn(true))).toBe(true);
    expect(admits(account, perColumn(false))).toBe(false);
  });

  it('a cost per row is recorded for each of its answers except public ones', () => {
    const columns = [category('a', ['x']), category('b', ['x']), category('c', ['x'], { public: true })];
    const account = openAccount(
      { ...samplePolicy(columns, { secret: 'answer' }), budget: { epsilon: one, delta: parseRational('0') } },
      [times(5), times(1, { scope: (c) => c === a || c === b })],
    );
    const booked = account.reservedCost(star('0.25'), {});
    expect(booked.perRecord).toEqual(new Map([everyRecord, a, b].map((c) => [c, parseRational('0.25')])));
    expect(booked.noise === 'pure' && booked.factored).toBe(false);
    expect(account.routes.every((r) => spentUnder(r, spend(nothingSpent, booked)) !== undefined)).toBe(true);
  });

  it('a factored route plans only measures that depend on a single answer', () => {
    const columns = times(1, { name: 'one by one', scope: (c) => c === a || c === b, factoredOnly: true });
    const account = openAccount(
      {
        ...samplePolicy([category('a', ['x', 'y']), category('b', ['x', 'y'])], { secret: 'answer' }),
        budget: { epsilon: one, delta: rational(0) },
      },
      [times(5), columns],
    );
    const routes = (...measures: Measure[]) =>
      chooseNoise(measures, account, rational(1, 2), nothingSpent).map((p) => [
        p.route.amplifier.name,
        p.cost.noise === 'pure' && p.cost.factored,
      ]);
    const [one_, other, both] = [[a], [b], [a, b]].map((classes) => histogram('h', 3, [everyRecord, ...classes]));
    expect(routes(one_!, other!)).toContainEqual(['one by one', true]);
    expect(routes(both!)).toEqual([['x5', false]]);
    expect(routes(one_!, both!)).toEqual([['x5', false]]);
  });
});

describe('the routes of an account', () => {
  // The choice of the proving route may depend on earlier releases, so the failure probabilities of the routes add up.
  it('routes share delta, and each stays within its part', () => {
    const pair = graphAmplifier({
      name: 'pair',
      graph: fromPairs(2, Uint32Array.of(0), Uint32Array.of(1), Math.log(4)),
      scope: (c) => c === everyRecord,
      adversary: 'informed',
      reach: 'any',
      assumptions: [],
      method: '',
    });
    for (const belief of [undefined, { prior: rational(1, 10), posterior: rational(3, 10) }])
      for (const amplifiers of [[times(1)], [times(1), times(2)], [pair], [pair, times(3)]]) {
        const budget = { epsilon: one, delta: parseRational('1e-6'), ...(belief && { belief }) };
        const account = openAccount({ ...samplePolicy([]), budget }, amplifiers);
        const gaussian = account.routes.flatMap((r) => r.gaussian ?? []);
        expect(gaussian.length).toBe(amplifiers.length + (amplifiers.includes(pair) ? 1 : 0));
        expect(compare(sum(gaussian.map((g) => g.delta)), account.delta)).toBeLessThanOrEqual(0);
        for (const g of gaussian)
          if (g.bound.delta(toNumber(g.capacity), 1) > 0)
            expect(g.bound.delta(toNumber(g.capacity), toNumber(g.epsilon))).toBeLessThanOrEqual(toNumber(g.delta));
        if (belief) expect(gaussian.reduce((t, g) => t + g.failure, 0)).toBeLessThanOrEqual(1e-6 * (1 + 1e-9));
      }
  });
});

describe('a route for Gaussian noise on sums', () => {
  const pair = (scope: ClassScope = (c) => c === everyRecord) =>
    graphAmplifier({
      name: 'pair',
      graph: fromPairs(2, Uint32Array.of(0), Uint32Array.of(1), Math.log(2)),
      scope,
      adversary: 'informed',
      reach: 'any',
      assumptions: [],
      method: '',
    });
  const budget = { epsilon: one, delta: parseRational('1e-6') };
  const account = openAccount({ ...samplePolicy([]), budget }, [pair()]);
  const [, onSums] = account.routes;
  const cost = zcdpCost([[everyRecord, parseRational('0.001')]]);
  const selection: Measure = {
    ...histogram('median', 1),
    mechanism: 'exponential',
    candidates: [one],
    penalties: () => [0n],
    rule: 'none',
    perRank: 1,
  };
  const covers = (...costs: PrivacyCost[]) =>
    spentUnder(
      onSums!,
      costs.reduce((spent, c) => spend(spent, c), nothingSpent),
    ) !== undefined;

  it('a route for sums covers sums until Gaussian noise is used for anything else', () => {
    const sums = account.reservedCost(cost, { measures: [histogram('h', 3)] });
    expect(covers(sums)).toBe(true);
    expect(covers(sums, account.reservedCost(star('0.01'), { measures: [selection] }))).toBe(true);
    for (const reading of [{ measures: [histogram('h', 3), selection] }, {}, { sums: false }])
      expect(covers(sums, account.reservedCost(cost, reading))).toBe(false);
    expect(covers(sums, account.reservedCost(cost, { sums: true }))).toBe(true);
    expect(covers(sums, cost)).toBe(false);
  });

  it('the planner uses the route for sums only, and never for measures that depend on two answers', () => {
    const planned = (account: Account, ...measures: Measure[]) =>
      chooseNoise(measures, account, rational(1, 2), nothingSpent).some(
        (p) => p.kind === 'gaussian' && p.route.how === onSums!.how,
      );
    expect(planned(account, histogram('h', 3))).toBe(true);
    expect(planned(account, histogram('h', 3), selection)).toBe(false);
    const answers = openAccount({ ...samplePolicy([], { secret: 'answer' }), budget }, [pair((c) => c === a || c === b)]);
    expect(planned(answers, histogram('one', 3, [everyRecord, a]), histogram('other', 3, [everyRecord, b]))).toBe(true);
    expect(planned(answers, histogram('both', 3, [everyRecord, a, b]))).toBe(false);
  });

  it('a condition on sums over persons has another mark than one on sums over rows', () => {
    const marks = (protect: object) =>
      openAccount({ ...samplePolicy([], protect), budget }, [pair()]).routes.flatMap((r) => r.conditions.map((c) => c.mark));
    const all = [{ secret: 'row' }, { secret: 'person', unit: 'id', maxRows: 2 }, { secret: 'person', unit: 'id', maxRows: 3 }];
    expect(new Set(all.flatMap(marks)).size).toBe(3);
  });

  it('a belief budget counts pure noise against the smaller epsilon of its Gaussian capacity', () => {
    const belief = { prior: rational(1, 10), posterior: rational(3, 10) };
    const sure = openAccount({ ...samplePolicy([]), budget: { ...budget, belief } }, [pair()]).routes[1]!.gaussian!;
    expect(compare(sure.epsilon, one)).toBe(-1);
    expect(sure.bound.delta(toNumber(sure.capacity), toNumber(sure.epsilon))).toBeLessThanOrEqual(toNumber(sure.delta));
    const spent = { pure: parseRational('0.1'), rho: multiply(sure.capacity, rational(1, 4)) };
    expect(compare(sure.bound.counted(spent, sure.capacity, sure.epsilon), sure.bound.counted(spent, sure.capacity, one))).toBe(
      1,
    );
    const route = openAccount({ ...samplePolicy([]), budget: { ...budget, belief } }, [pair()]).routes[1]!;
    const total = spentUnder(
      route,
      spend(
        spend(nothingSpent, star('0.1')),
        zcdpCost([[everyRecord, spent.rho], ...route.conditions.map((c) => [c.mark, spent.rho] as const)]),
      ),
    );
    expect(compare(total!.rho, sure.bound.counted(spent, sure.capacity, sure.epsilon))).toBe(0);
  });

  it('the promise adds the failure probabilities of all routes', () => {
    const guarantee = guaranteeFor({ ...samplePolicy([]), budget }, account)(onSums!);
    expect(guarantee.failure).toBeGreaterThanOrEqual(account.routes.reduce((t, r) => t + r.gaussian!.failure, 0));
    // Upward and, less often, downward: never below the probability of one direction alone.
    for (const { gaussian } of account.routes) {
      const { bound, capacity } = gaussian!;
      const below = (e: number) => bound.deltaBelow?.(toNumber(capacity), 1, e) ?? bound.delta(toNumber(capacity), e);
      const oneWay = Math.min(
        ...[1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22].map((percent) => below(1 - percent / 100) / -Math.expm1(-percent / 100)),
      );
      expect(gaussian!.failure / oneWay).toBeCloseTo(1 + Math.exp(-1), 6);
    }
  });
});

describe('a route over record classes', () => {
  it('a route does not cover totals that hold a class outside its scope', () => {
    const scope: ClassScope = (c) => c === a || c === b;
    expect(coversClasses(scope, [everyRecord, a, usedMark('x')])).toBe(true);
    expect(coversClasses(scope, [everyRecord, a, answersTo('u')])).toBe(false);
    expect(coversClasses(scope, [everyRecord])).toBe(false);
    expect(coversClasses(scope, [])).toBe(true);
    expect(coversClasses((c) => c === everyRecord, [everyRecord, a, answersTo('u')])).toBe(true);
    expect(coversClasses((c) => c === everyRecord, [tuplesIn('friend')])).toBe(false);
  });

  it('a column named like a record class of the ledger is a class of its own', () => {
    for (const name of ['*', 'sums:all', 'used:1', 'levels:x', 'once:y'])
      expect(() => openAccount(samplePolicy([category(name, ['y', 'n'])]), [times(1)])).toThrow(Fault);
  });
});

describe('costs that differ by column', () => {
  const graph = fromPairs(2, Uint32Array.of(0), Uint32Array.of(1), Math.log(3));
  const answers = graphAmplifier({
    name: 'answers',
    graph,
    scope: (c) => c === a || c === b,
    columns: ['a', 'b'],
    adversary: 'informed',
    reach: 'any',
    assumptions: [],
    method: '',
  });
  const account = accountOf('1', '0', [answers]);
  const costs = (forA: number, forB: number) =>
    spend(
      nothingSpent,
      pureCost([
        [everyRecord, rational(forA + forB, 100)],
        ...(
          [
            [a, forA],
            [b, forB],
          ] as const
        )
          .filter(([, c]) => c > 0)
          .map(([c, x]) => [c, rational(x, 100)] as const),
      ]),
    );

  it('costs that differ by column are admitted up to their own leakage, which allows more than the largest cost for all', () => {
    const [route] = account.routes;
    const capacity = 100 * toNumber(route!.pureCapacity);
    let further = 0;
    for (let x = 0; x <= 100; x += 5)
      for (let y = 0; y <= 100; y += 5) {
        if (x + y === 0) continue;
        const leak = leakageOf(graph, Float64Array.of(x / 100, y / 100), 'informed').worst.leakage;
        const spent = costs(x, y);
        expect(admits(account, spent), `${x} ${y}`).toBe(leak <= 1);
        if (compare(usedShare(account, spent), one) <= 0) expect(leak).toBeLessThanOrEqual(1);
        expect(privacyLossBound(account, spent)).toBeCloseTo(leak, 9);
        if (leak <= 1 && Math.max(x, y) > capacity) further++;
      }
    expect(further).toBeGreaterThan(20);
  });
});

describe('allocation', () => {
  it('allocation gives the measures of one class at most the whole budget', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            cells: fc.integer({ min: 1, max: 500 }),
            classes: fc.subarray(['a', 'b', 'c', 'd'].map(answersTo), { minLength: 1 }),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        (list) => {
          const measures = list.map((m, k) => histogram(`${k}`, m.cells, m.classes));
          const shares = allocate(
            measures,
            () => true,
            (m) => Math.cbrt(m.cells.length),
          );
          for (const name of ['a', 'b', 'c', 'd'].map(answersTo)) {
            const total = sum(shares.filter((_, k) => measures[k]!.sensitivity.has(name)));
            expect(compare(total, one)).toBeLessThanOrEqual(0);
          }
        },
      ),
    );
  });
});

describe('the choice of noise', () => {
  it('the planner takes Gaussian noise for hundreds of columns and Laplace noise for one', () => {
    const account = accountOf('1', '1e-6', [times(1)]);
    const many = Array.from({ length: 300 }, (_, k) => histogram(`q${k}`, 5));
    expect(chooseNoise(many, account, one, nothingSpent)[0]!.kind).toBe('gaussian');
    expect(chooseNoise(many.slice(0, 1), account, one, nothingSpent)[0]!.kind).toBe('laplace');
  });

  it('the planner gives measures that only serve error estimates less budget, however many cells they have', () => {
    const measures: Measure[] = [histogram('answer', 1), { ...histogram('sure', 1000), worth: 1 / 8 }];
    const scales = (delta: string) => {
      const account = accountOf('1', delta, [times(1)]);
      const { mechanisms } = chooseNoise(measures, account, one, nothingSpent).find(
        ({ kind }) => (kind === 'gaussian') === (delta !== '0'),
      )!;
      return mechanisms.map(({ distribution }) =>
        toNumber(distribution.kind === 'laplace' ? distribution.scale : (distribution as { variance: Rational }).variance),
      );
    };
    const [pure, rho] = [scales('0'), scales('1/100000')];
    expect(pure[1]! / pure[0]!).toBeCloseTo(2, 4);
    expect(rho[1]! / rho[0]!).toBeCloseTo(Math.sqrt(8), 4);
  });

  it('the planned cost bounds the loss of its noise and fits the share', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 100 }),
        (sizes, part) => {
          const account = accountOf('2', '0', [times(3)]);
          const measures = sizes.map((cells, k) => histogram(`q${k}`, cells));
          const share = rational(part, 100);
          const [plan] = chooseNoise(measures, account, share, nothingSpent);
          const booked = plan!.cost.perRecord.get(everyRecord)!;
          const used = sum(
            plan!.mechanisms.map(
              ({ distribution }): Rational =>
                distribution.kind === 'laplace' ? { num: 2n * distribution.scale.den, den: distribution.scale.num } : one,
            ),
          );
          expect(compare(used, booked)).toBeLessThanOrEqual(0);
          expect(compare(booked, multiply(account.routes[0]!.pureCapacity, share))).toBeLessThanOrEqual(0);
        },
      ),
    );
  });
});

describe('rounding of scales', () => {
  it('rounding raises a scale by at most a millionth and gives short fractions', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 40n }), (n, d) => {
        const x = rational(n, d);
        const up = roundUp(x);
        expect(compare(up, x)).toBeGreaterThanOrEqual(0);
        expect(toNumber(up) / toNumber(x)).toBeLessThan(1 + 2e-6);
      }),
    );
  });
});
