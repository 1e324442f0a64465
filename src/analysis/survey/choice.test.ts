import { beforeAll, describe, expect, it } from 'vitest';
import { anesFolder, type CodedSurvey, pooled, readAnes } from '../../../experiments/tabular/anes.js';
import { gaussianSplit } from '../../../experiments/tabular/mechanisms.js';
import { largestRho } from '../../../experiments/tabular/rho.js';
import { pairTablesOfJoint } from '../../../test/pair-tables-of-joint.js';
import { category, multi, samplePolicy } from '../../../test/sample-policy.js';
import { fromNumber, one, parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import type { Column, Protect } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { untied } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { pairwiseAmplifier } from '../../privacy/dependence/pairwise/amplifier.js';
import { largestPairwiseBase, pairwiseSpread } from '../../privacy/dependence/pairwise/leakage.js';
import type { AdditiveDistribution, NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import { nothingSpent } from '../../privacy/mechanism/privacy-cost.js';
import { bindBatch } from '../../query/bind.js';
import { chooseNoise } from '../../release/accountant/choose.js';
import { openAccount } from '../../release/accountant/open-account.js';
import { pairTables } from '../learn/network/contingency.js';
import { chooseSurvey, clustersWorthMerging } from './choice.js';
import { releaseError } from './error.js';
import { surveyBatch } from './query.js';

const questions = Array.from({ length: 20 }, (_, i) =>
  category(
    `q${i}`,
    Array.from({ length: 1 + (i % 5) }, (_, v) => `${v}`),
  ),
);
const whole = graphAmplifier({
  name: 'independent',
  graph: untied(1),
  scope: (record) => record === '*',
  adversary: 'informed',
  reach: 'any',
  assumptions: [],
  method: '',
});
interface SurveyCase {
  readonly columns?: readonly Column[];
  readonly protect?: Partial<Protect>;
  readonly delta?: string;
  readonly amplifiers?: readonly Amplifier[];
}
/** The forms of a survey and the choice among them, as the planner gets them. */
function survey({ columns = questions, protect = {}, delta = '0', amplifiers = [] }: SurveyCase = {}) {
  const plain = samplePolicy(columns, protect);
  const policy = { ...plain, budget: { ...plain.budget, delta: parseRational(delta) } };
  const account = openAccount(policy, [whole, ...amplifiers]);
  const { measures } = bindBatch(surveyBatch(policy), policy);
  const form = { merged: false, measures, plans: chooseNoise(measures, account, one, nothingSpent) };
  return { way: form, choice: chooseSurvey([form], form, policy.protect) };
}

const lawOf = (kind: 'laplace' | 'gaussian', width: number): AdditiveDistribution<number> =>
  kind === 'laplace' ? { kind, scale: width } : { kind, variance: width ** 2 };

/** L2 error of planned noise from the sum of variances. */
const l2Of = (noise: readonly NoiseDistribution[], cells: readonly number[]): number =>
  Math.sqrt(
    noise.reduce((sum, n, k) => {
      if (n.kind === 'gaussian') return sum + cells[k]! * toNumber(n.variance);
      const q = n.kind === 'laplace' ? Math.exp(-1 / toNumber(n.scale)) : 0;
      return sum + (cells[k]! * 2 * q) / (1 - q) ** 2;
    }, 0),
  );

describe('the choice of a survey release', () => {
  it('Laplace noise is split by size when nothing else is allowed', () => {
    const { choice } = survey();
    expect(choice.chosen.name).toBe('Laplace, split by size');
    const spent = choice.chosen.parts.reduce((sum, part) => sum + 2 / part.scale, 0);
    expect(spent).toBeCloseTo(1, 5);
    expect(choice.candidates.find((c) => c.name === 'Laplace, equal')!.ratio).toBe(1);
  });

  it('Gaussian noise is chosen for a wide survey when delta allows it', () => {
    const wide = Array.from({ length: 150 }, (_, i) => category(`q${i}`, ['1', '2', '3', '4', '5']));
    const { choice, way: form } = survey({ columns: wide, delta: '1e-6' });
    expect(choice.chosen.name).toBe('Gaussian');
    const rho = toNumber(form.plans[0]!.route.gaussian!.capacity);
    expect(choice.chosen.parts.reduce((sum, part) => sum + 1 / part.scale ** 2, 0) / rho).toBeCloseTo(1, 5);
  });

  it.each<[string, SurveyCase, number]>([
    ['rows', {}, 2],
    ['persons of five rows', { protect: { secret: 'person', unit: 'id', maxRows: 5 } }, 10],
    ['a multi-select column of four options', { columns: [multi('m', ['a', 'b', 'c', 'd'])] }, 5],
    ['answers', { protect: { secret: 'answer' } }, 2],
  ])('the plan states the error of the planned noise: %s', (_, description, moves) => {
    const { choice, way: form } = survey(description);
    const planned = form.plans[0]!.mechanisms.map(({ distribution }) => distribution);
    const cells = form.measures.map((m) => m.cells.length);
    expect(choice.chosen.error.l2).toBeCloseTo(l2Of(planned, cells), 6);
    expect(choice.chosen.parts.map((p) => p.scale)).toEqual(planned.map((n) => toNumber((n as { scale: Rational }).scale)));
    // sensitivity of a table is the planner's to know
    expect(choice.chosen.parts.reduce((sum, part) => sum + moves / part.scale, 0)).toBeCloseTo(1, 5);
    if (moves !== 2) {
      const twoCells = choice.chosen.parts.map(
        (p): NoiseDistribution => ({ kind: 'laplace', scale: fromNumber((p.scale * 2) / moves) }),
      );
      expect(choice.chosen.error.l2).toBeGreaterThan(2 * l2Of(twoCells, cells));
    }
  });

  const four = questions.slice(1, 5);
  const strangers = pairwiseSpread([
    pairTablesOfJoint(
      four.map((q) => q.name),
      [3, 4, 5, 6],
      new Array(360).fill(100),
    ),
  ]);
  const levels = { columns: new Map(), digest: 'levels' };
  const tables = [pairwiseAmplifier(strangers, { kind: 'unpaid' }, levels)];

  it('the pairwise bound is used when it is a route, with a notice that nobody paid for it', () => {
    const answers = { columns: four, protect: { secret: 'answer', adversary: 'uninformed' } } as const;
    const { chosen, candidates } = survey({ ...answers, amplifiers: tables }).choice;
    expect(chosen.name).toBe('Laplace, pairwise bound');
    expect(chosen.assumes.join(' ')).toMatch(/not paid for/);
    expect(chosen.protects).toMatch(/one answer.*knows no other answer/);
    expect(candidates.find((c) => c.name === 'Laplace, split by size')!.protects).toMatch(/whole row/);
    expect(survey(answers).choice.chosen.name).toBe('Laplace, split by size');
  });

  it('public columns get no noise and are not counted', () => {
    const { chosen } = survey({
      columns: [...four, category('form', ['a', 'b'], { public: true })],
      protect: { secret: 'answer' },
    }).choice;
    expect(chosen.parts.flatMap((p) => p.columns)).not.toContain('form');
    expect(chosen.parts).toHaveLength(4);
  });

  it('a skip block is merged exactly when that lowers the error', () => {
    const block = Array.from({ length: 8 }, (_, i) => ({ name: `m${i}`, cells: 4 }));
    const small = { columns: block.map((c) => c.name), support: 39 };
    const large = { ...small, support: 4 ** 8 };
    expect(clustersWorthMerging(block, [small, small], 1 / 3)).toEqual([small]);
    expect(clustersWorthMerging(block, [large], 1 / 3)).toEqual([]);
    expect(clustersWorthMerging(block.slice(1), [small], 1 / 3)).toEqual([]);
  });
});

describe('the error of a whole release', () => {
  let state = 99;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const laplace = (b: number) => Math.round(-b * Math.sign(uniform() - 0.5) * Math.log(uniform()));
  const gauss = (s: number) => Math.round(s * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));

  it.each(['laplace', 'gaussian'] as const)(
    'the L1 and maximum bounds hold in at least 95 %% of draws and are tight: %s noise',
    (kind) => {
      const parts = [
        { scale: 20, cells: 60 },
        { scale: 35, cells: 30 },
      ];
      const error = releaseError(parts.map(({ scale, cells }) => ({ distribution: lawOf(kind, scale), cells })));
      let l1Broken = 0;
      let maximumBroken = 0;
      let meanL1 = 0;
      const trials = 2000;
      for (let t = 0; t < trials; t++) {
        const noise = parts.flatMap((p) =>
          Array.from({ length: p.cells }, () => Math.abs(kind === 'laplace' ? laplace(p.scale) : gauss(p.scale))),
        );
        const l1 = noise.reduce((a, b) => a + b);
        meanL1 += l1 / trials;
        if (l1 > error.l1) l1Broken++;
        if (Math.max(...noise) > error.maximum) maximumBroken++;
      }
      expect(l1Broken / trials).toBeLessThan(0.05);
      expect(maximumBroken / trials).toBeLessThan(0.065);
      expect(error.l1 / meanL1).toBeLessThan(1.4);
    },
  );

  it('the L1 error grows with the number of cells, which the published Theorem 6 denies', () => {
    const one = releaseError([{ distribution: { kind: 'laplace', scale: 10 }, cells: 10 }]);
    const ten = releaseError([{ distribution: { kind: 'laplace', scale: 10 }, cells: 1000 }]);
    expect(ten.l1).toBeGreaterThan(30 * one.l1);
    expect(releaseError([]).l1).toBe(0);
  });

  it('the bounds cover tables derived from a joint histogram, which share their noise', () => {
    const joint = releaseError([{ distribution: { kind: 'laplace', scale: 10 }, cells: 40, tables: 5 }]);
    const separate = releaseError([{ distribution: { kind: 'laplace', scale: 10 }, cells: 200 }]);
    expect(joint.l2).toBeCloseTo(separate.l2, 9);
    expect(joint.l1).toBeGreaterThan(separate.l1);
    expect(joint.maximum).toBeGreaterThan(separate.maximum);
  });
});

describe.skipIf(!anesFolder)('ANES 2020 (needs the public data)', () => {
  let survey: CodedSurvey;
  beforeAll(async () => {
    survey = await readAnes({ year: '2020', columns: 153 });
  });

  it('the survey has the 153 columns and 931 cells of the rule', () => {
    expect([survey.names.length, survey.levels.reduce((a, b) => a + b, 0), survey.rows]).toEqual([153, 931, 3080]);
  });

  const l2 = (kind: 'laplace' | 'gaussian', levels: readonly number[], scale: (c: number) => number): number =>
    releaseError(levels.map((cells, c) => ({ distribution: lawOf(kind, scale(c)), cells }))).l2;

  it('Gaussian noise for whole rows has at most 0.2 of the error of Laplace 2n/epsilon at epsilon 1, delta 1e-6', () => {
    const { levels } = survey;
    const sigma = gaussianSplit(levels, largestRho(1, 1e-6));
    const ratio = l2('gaussian', levels, (c) => sigma[c]!) / l2('laplace', levels, () => 2 * levels.length);
    expect(ratio).toBeLessThanOrEqual(0.2);
  });

  it('the pairwise bound with its 95 % radius, levels pooled at 5 %, has at most 0.85 of the error at epsilon 1', () => {
    const { levels, ...rest } = pooled(survey, 0.05);
    const spread = pairwiseSpread([pairTables({ levels, ...rest })], { confidence: 0.95 });
    const ratio =
      l2('laplace', levels, () => 2 / largestPairwiseBase(spread, 1)) / l2('laplace', levels, () => 2 * levels.length);
    expect(ratio).toBeLessThanOrEqual(0.85);
    expect(ratio).toBeGreaterThan(0.7);
  });
});
