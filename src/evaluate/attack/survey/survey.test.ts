import { beforeAll, describe, expect, it } from 'vitest';
import { generatedSurvey } from '../../../../bench/learn.js';
import { anesFolder, type CodedSurvey, pooled, readAnes } from '../../../../experiments/tabular/anes.js';
import { bestStructure } from '../../../analysis/learn/network/best-structure.js';
import type { CodedTable } from '../../../analysis/learn/network/coded.js';
import { pairTables } from '../../../analysis/learn/network/contingency.js';
import { largestPairwiseBase, pairwiseLeakage, pairwiseSpread } from '../../../privacy/dependence/pairwise/leakage.js';
import { dependentSensitivity, tabularReadings } from '../../papers/correlated-columns/tabular.js';
import { tabularLoss } from '../../papers/correlated-columns/tabular-loss.js';
import { auditSubSurveys, type Calibrate, jointCounts, subSurveys } from './audit.js';
import { attackHeldOut, attackSurvey } from './survey.js';

const pairwise: Calibrate = (table, epsilon) => {
  const base = largestPairwiseBase(pairwiseSpread([pairTables(table)]), epsilon);
  return table.names.map(() => base);
};
const composition: Calibrate = (table, epsilon) => table.names.map(() => epsilon / table.names.length);
const published =
  (reading: keyof typeof tabularReadings): Calibrate =>
  (table, epsilon) => {
    const chunk = { columns: table.names.map((_, c) => c), parents: bestStructure(table, 2).parents };
    const ds = dependentSensitivity(pairTables(table), chunk, tabularReadings[reading]);
    return table.names.map(() => (2 * epsilon) / ds);
  };

describe('the whole-survey attack', () => {
  const table = generatedSurvey(5, 400, 3);

  it('the attack reaches the exact loss of a small survey, and never exceeds it', () => {
    for (const cost of [0.05, 0.3, 1]) {
      const costs = table.names.map(() => cost);
      const exact = tabularLoss(jointCounts(table), table.levels, costs, 'uninformed').loss;
      const found = attackSurvey(table, costs, { pairs: 1000 }).loss;
      expect(found).toBeLessThanOrEqual(exact + 1e-9);
      expect(found).toBeGreaterThan(0.98 * exact);
    }
  });

  it('the attack finds nothing if half of the rows have nothing to guess', () => {
    const codes = Uint8Array.from({ length: 40 }, (_, r) => r % 2);
    const same = { names: ['a', 'b'], levels: [2, 1], rows: 40, columns: [codes, new Uint8Array(40)] };
    const found = attackHeldOut(same, [0.5, 0.5]);
    expect(found.heldOut).toBe(0);
    expect(found.inSample.loss).toBeCloseTo(0.5, 9);
  });

  it('the attack stays below the pairwise bound and above the answer’s own column', () => {
    const spread = pairwiseSpread([pairTables(table)]);
    const loss = attackSurvey(
      table,
      table.names.map(() => 0.2),
    ).loss;
    expect(loss).toBeLessThanOrEqual(pairwiseLeakage(spread, 0.2));
    expect(loss).toBeGreaterThanOrEqual(0.2);
  });

  it('the attack evaluates evidence on rows that did not select it', () => {
    const wide = generatedSurvey(30, 300, 5);
    const { inSample, heldOut } = attackHeldOut(
      wide,
      wide.names.map(() => 0.1),
    );
    expect(heldOut).toBeLessThan(inSample.loss);
  });

  it('the attack reports a column without noise as an infinite loss', () => {
    expect(attackSurvey(table, [0.1, Number.POSITIVE_INFINITY, 0.1, 0.1, 0.1]).loss).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('sub-survey audits', () => {
  it('the audits confirm composition with equality and detect a halved scale', () => {
    const surveys = subSurveys(generatedSurvey(20, 300, 3), 10);
    expect(surveys.map((s) => s.names.length)).toEqual([4, 4, 5, 5, 5, 4, 4, 5, 5, 5]);
    for (const audit of auditSubSurveys(surveys, 1, composition)) expect(audit.loss).toBeLessThanOrEqual(1 + 1e-9);
    const copies: CodedTable = { ...surveys[0]!, columns: surveys[0]!.columns.map(() => surveys[0]!.columns[0]!) };
    const halved: Calibrate = (t, e) => composition(t, 2 * e);
    expect(auditSubSurveys([copies], 1, halved)[0]!.loss).toBeGreaterThan(1.9);
  });
});

describe.skipIf(!anesFolder)('ANES 2020, levels pooled at 5 % (needs the public data)', () => {
  let survey: CodedSurvey;
  let surveys: readonly CodedTable[];
  beforeAll(async () => {
    survey = pooled(await readAnes({ year: '2020', columns: 153 }), 0.05);
    surveys = subSurveys(survey, 60);
  });

  it.each([0.1, 1])(
    'in 60 sub-surveys at epsilon %s the pairwise bound keeps its promise, and the published mechanism does not',
    (epsilon) => {
      const worst = (calibrate: Calibrate) =>
        Math.max(...auditSubSurveys(surveys, epsilon, calibrate).map((a) => a.loss / epsilon));
      expect(surveys).toHaveLength(60);
      expect(worst(pairwise)).toBeLessThanOrEqual(1 + 1e-9);
      expect(worst(composition)).toBeLessThanOrEqual(1 + 1e-9);
      expect(worst(published('zeros-ignored'))).toBeGreaterThan(1.5);
      expect(worst(published('clipped'))).toBeGreaterThan(1.5);
    },
  );

  it('in the whole survey at epsilon 1 the attack does not exceed the bound of pairwise noise, with or without the radius, in sample or held out', () => {
    for (const confidence of [undefined, 0.95]) {
      const spread = pairwiseSpread([pairTables(survey)], confidence === undefined ? {} : { confidence });
      const base = largestPairwiseBase(spread, 1);
      const { inSample, heldOut } = attackHeldOut(
        survey,
        survey.names.map(() => base),
        { pairs: 20 },
      );
      expect(inSample.loss).toBeLessThanOrEqual(1);
      expect(heldOut).toBeLessThanOrEqual(1);
      expect(inSample.loss).toBeGreaterThan(0.4);
    }
  });
});
