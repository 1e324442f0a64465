import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CodedSurvey, dataFolder, pooled, readAnes } from '../../experiments/tabular/anes.js';
import { largestRho } from '../../experiments/tabular/rho.js';
import { pairTables } from '../analysis/learn/contingency.js';
import { pairTablesOfJoint } from '../dependence/pair-tables.js';
import { pairwiseSpread } from '../dependence/pairwise-leakage.js';
import { chooseSurvey, mergeWhereWorth, type SurveyTerms } from './survey.js';
import { releaseError } from './survey-error.js';

const questions = Array.from({ length: 20 }, (_, i) => ({ name: `q${i}`, cells: 2 + (i % 5) }));
const row: SurveyTerms = { secret: 'row', adversary: 'informed', epsilon: 1, delta: 0 };
const answer: SurveyTerms = { secret: 'answer', adversary: 'uninformed', epsilon: 0.1, delta: 0 };

describe('the choice of a survey release', () => {
  it('splits Laplace noise by size when nothing else is allowed', () => {
    const choice = chooseSurvey(questions, row);
    expect(choice.chosen.name).toBe('Laplace, split by size');
    const spent = choice.chosen.parts.reduce((sum, part) => sum + 2 / part.scale, 0);
    expect(spent).toBeCloseTo(1, 9);
    expect(choice.candidates.find((c) => c.name === 'Laplace, equal')!.ratio).toBe(1);
  });

  it('takes Gaussian noise for a wide survey when delta allows it', () => {
    const wide = Array.from({ length: 150 }, (_, i) => ({ name: `q${i}`, cells: 6 }));
    const rho = largestRho(1, 1e-6);
    const choice = chooseSurvey(wide, { ...row, delta: 1e-6, rho });
    expect(choice.chosen.name).toBe('Gaussian');
    expect(choice.chosen.parts.reduce((sum, part) => sum + 1 / part.scale ** 2, 0)).toBeCloseTo(rho, 9);
  });

  const strangers = pairwiseSpread([
    pairTablesOfJoint(
      questions.slice(0, 4).map((q) => q.name),
      [2, 3, 4, 5],
      new Array(120).fill(100),
    ),
  ]);
  const four = questions.slice(0, 4);

  it('uses the pairwise bound only for answers and uninformed attackers, and says why not otherwise', () => {
    const knowledge = { pairwise: { spread: strangers, origin: { kind: 'public', from: 'wave 1' } as const } };
    expect(chooseSurvey(four, answer, knowledge).chosen.name).toBe('Laplace, pairwise bound');
    const informed = chooseSurvey(four, { ...answer, adversary: 'informed' }, knowledge);
    expect(informed.chosen.name).not.toMatch(/pairwise/);
    expect(informed.why).toMatch(/not allowed: Laplace, pairwise bound \(assumes that no other answer/);
    expect(chooseSurvey(four, { ...answer, secret: 'row' }, knowledge).why).toMatch(/the policy protects rows/);
    expect(chooseSurvey([...four, { name: 'new', cells: 2 }], answer, knowledge).chosen.name).not.toMatch(/pairwise/);
  });

  it('marks tables that nobody paid for', () => {
    const choice = chooseSurvey(four, answer, { pairwise: { spread: strangers, origin: { kind: 'unpaid' } } });
    expect(choice.chosen.assumes.join(' ')).toMatch(/NOT PAID FOR/);
  });

  it('leaves public columns without noise and out of the count', () => {
    const choice = chooseSurvey([...four, { name: 'form', cells: 2, public: true }], row);
    expect(choice.chosen.parts.flatMap((p) => p.columns)).not.toContain('form');
  });

  it('merges a skip block exactly when that lowers the error', () => {
    const block = Array.from({ length: 8 }, (_, i) => ({ name: `m${i}`, cells: 4 }));
    const small = { columns: block.map((c) => c.name), support: 39 };
    const large = { ...small, support: 4 ** 8 };
    expect(mergeWhereWorth(block, [small], 1 / 3)[0]!.columns).toHaveLength(8);
    expect(mergeWhereWorth(block, [large], 1 / 3)).toHaveLength(8);
    const rest = [...questions, ...block];
    const merged = chooseSurvey(rest, row, { clusters: [small] });
    expect(merged.chosen.name).toBe('Laplace, merged');
    expect(merged.chosen.error.l2).toBeLessThan(chooseSurvey(rest, row).chosen.error.l2);
    expect(chooseSurvey(rest, row, { clusters: [large] }).chosen.error.l2).toBeCloseTo(
      chooseSurvey(rest, row).chosen.error.l2,
      6,
    );
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
    '%s: L1 and maximum hold in at least 95 %% of draws and are not far above',
    (kind) => {
      const parts = [
        { kind, scale: 20, cells: 60 },
        { kind, scale: 35, cells: 30 },
      ];
      const error = releaseError(parts);
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

  it('grows with the number of cells, which the published Theorem 6 denies', () => {
    const one = releaseError([{ kind: 'laplace', scale: 10, cells: 10 }]);
    const ten = releaseError([{ kind: 'laplace', scale: 10, cells: 1000 }]);
    expect(ten.l1).toBeGreaterThan(30 * one.l1);
    expect(releaseError([]).l1).toBe(0);
  });

  it('bounds tables read off a joint histogram, which share their noise', () => {
    const joint = releaseError([{ kind: 'laplace', scale: 10, cells: 40, tables: 5 }]);
    const apart = releaseError([{ kind: 'laplace', scale: 10, cells: 200 }]);
    expect(joint.l2).toBeCloseTo(apart.l2, 9);
    expect(joint.l1).toBeGreaterThan(apart.l1);
    expect(joint.maximum).toBeGreaterThan(apart.maximum);
  });
});

describe.skipIf(!existsSync(new URL('anes/', dataFolder)))('ANES 2020 (needs the shared data folder)', () => {
  let survey: CodedSurvey;
  beforeAll(async () => {
    survey = await readAnes({ year: '2020', columns: 153 });
  });

  it('has the 153 columns and 931 cells of the rule', () => {
    expect([survey.names.length, survey.levels.reduce((a, b) => a + b, 0), survey.rows]).toEqual([153, 931, 3080]);
  });

  it('Gaussian noise for whole rows: at most 0.2 of Laplace 2n/epsilon at epsilon 1, delta 1e-6', () => {
    const columns = survey.names.map((name, c) => ({ name, cells: survey.levels[c]! }));
    const choice = chooseSurvey(columns, { ...row, delta: 1e-6, rho: largestRho(1, 1e-6) });
    expect(choice.chosen.name).toBe('Gaussian');
    expect(choice.chosen.ratio).toBeLessThanOrEqual(0.2);
  });

  it('pairwise bound with its 95 % radius, levels pooled at 5 %: at most 0.85 at epsilon 1', () => {
    const pool = pooled(survey, 0.05);
    const columns = pool.names.map((name, c) => ({ name, cells: pool.levels[c]! }));
    const spread = pairwiseSpread([pairTables(pool)], { confidence: 0.95 });
    const choice = chooseSurvey(columns, { ...answer, epsilon: 1 }, { pairwise: { spread, origin: { kind: 'unpaid' } } });
    expect(choice.chosen.name).toBe('Laplace, pairwise bound');
    expect(choice.chosen.ratio).toBeLessThanOrEqual(0.85);
    expect(choice.chosen.ratio).toBeGreaterThan(0.7);
  });
});
