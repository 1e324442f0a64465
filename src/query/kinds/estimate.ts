import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { declaredCategory } from '../../policy/domain.js';
import type { Design } from '../../policy/policy.js';
import {
  type AnswerValues,
  answerLayout,
  answerTable,
  defaultAlpha,
  expectedAnswerError,
  figureAt,
  figureCells,
  noAnswer,
  noiseOfTerms,
} from '../answer.js';
import { codeKey } from '../count/measure.js';
import { boundedList, codeForm, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { testFactor } from '../sampling.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';
import { combineMeans, groupMean } from '../statistics/group-means.js';
import { meanTerms, shareTerms } from '../statistics/groups.js';

const schema = z.strictObject({
  kind: z.literal('estimate'),
  /** A number, for the mean; or a category. */
  column: columnNameForm,
  /** For a category: the values whose share is estimated. */
  values: boundedList(codeForm, 'literals').optional(),
  ...commonFields,
});
type EstimateQuery = z.output<typeof schema>;
const estimateName = ({ values }: EstimateQuery): string => (values ? 'share' : 'mean');
const label = (query: EstimateQuery): string =>
  `${estimateName(query)} of ${query.column}${query.values ? ` ${query.values.join(' or ')}` : ''} in the population`;

/**
 * Estimate for the population: mean or share, by declared stratum sizes or by weights, and the total where the population size is
 * declared. The sums of squares for the sampling error are paid for (../sampling.proof.md).
 */
function bind(query: EstimateQuery, scope: BindingScope): BoundQuery {
  const { design } = scope.policy;
  const rows = selectRows(scope.policy, query);
  const strata = strataOf(scope, query);
  const stratified = strata ? withKey(rows, strata.key) : rows;
  const read = query.values
    ? shareTerms(scope, stratified, query.column, query.values)
    : meanTerms(scope, stratified, query.column);
  const { one } = testFactor(scope.policy, {});
  const several = strata?.parts.length ?? 1;
  const population = design?.population ?? strata?.all;
  const grouped = (query.by?.length ?? 0) > 0 || (query.where?.length ?? 0) > 0 || scope.policy.view !== undefined;
  // The size of a subpopulation is not declared, so there is no total for one.
  const figures = [estimateName(query), ...(population !== undefined && !grouped ? ['total'] : []), 'worth people'];
  const columns = ['figure', query.name ?? query.column];
  const layout = answerLayout(query, label(query), figureCells(rows.cells, figures), columns);
  return {
    finish: (noisy) => {
      const all = rows.cells.map((_, group) => {
        const cells = Array.from({ length: several }, (__, h) => read.group(group * several + h));
        const sides = cells.map((cell, h) => groupMean(cell, noisy, strata ? strata.factor(h) : one, several));
        const { middle, within } = cells[0]!;
        const mean = combineMeans(sides, strata?.parts ?? [1], middle, within);
        const worth = sides.reduce((sum, side) => sum + (side?.people ?? 0), 0);
        return [
          mean,
          ...(figures.length > 2 ? [scaledRow(mean, population!)] : []),
          { ...noAnswer, value: worth > 0 ? worth : null },
        ];
      });
      return { ...answerTable(layout, 'propagated', (k) => figureAt(all, k)), note: noteOf(design, query) };
    },
    expectedError: (noise) => {
      const { deviation, half } = noiseOfTerms([read.term], noise);
      const spread = Math.sqrt(several);
      const size = { standardError: spread * deviation, halfWidth: spread * half(defaultAlpha), perRow: true };
      return expectedAnswerError(layout, 'propagated', size);
    },
  };
}

/** Strata of the design, unless rows have weights, which replace them. */
function strataOf({ policy }: BindingScope, { weight, by = [], where = [], column }: EstimateQuery) {
  const declared = policy.design?.strata;
  if (!declared || weight !== undefined || by.includes(declared.column)) return undefined;
  refusePartialStrata(declared.column, column, by.length + where.length > 0 || policy.view !== undefined);
  const codes = codesOf(declaredCategory(policy, declared.column));
  const sizes = codes.map((c) => declared.sizes.get(c)!);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const effect = policy.design!.effect;
  const groups = codes.map((code) => [code]);
  return {
    key: { key: codeKey(declared.column, groups), labels: codes },
    all,
    parts: sizes.map((size) => size / all),
    factor: (h: number) => (people: number) => effect * Math.max(0, 1 - people / sizes[h]!),
  };
}

/** The declared sizes are those of whole strata; with a condition, the fraction of each stratum is unknown, and so is its weight. */
function refusePartialStrata(strata: string, column: string, some: boolean): void {
  if (column === strata)
    throw new Fault('QUERY_INVALID', `How large the strata by "${strata}" are is declared.`, 'Read it off design.strata.');
  if (some)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Of a part of the population it is not declared how large it is in each of the strata by "${strata}".`,
      `Ask it within strata, "by": ["${strata}"], or by weights that make up for how people were drawn: "weight".`,
    );
}

function scaledRow(row: AnswerValues, by: number): AnswerValues {
  const scaled = (x: number | null) => (x === null ? null : x * by);
  const { withSampling } = row;
  return {
    value: scaled(row.value),
    standardError: scaled(row.standardError),
    low: scaled(row.low),
    high: scaled(row.high),
    ...(withSampling && {
      withSampling: {
        low: scaled(withSampling.low),
        high: scaled(withSampling.high),
        standardError: withSampling.standardError * by,
      },
    }),
  };
}

function noteOf(design: Design | undefined, { weight }: EstimateQuery): string {
  const methods = [
    ...(design ? [] : ['no design is declared: taken for a simple random sample of a large population']),
    ...(design && weight === undefined && design.strata
      ? [`strata by ${design.strata.column}, weighed by their declared sizes`]
      : []),
    ...(weight === undefined
      ? []
      : [`weighted by ${weight}; weights count as unrelated to what is estimated within groups (Kish)`]),
    ...(design && design.effect !== 1 ? [`declared design effect ${Number(design.effect.toPrecision(3))}`] : []),
    ...(design?.population === undefined ? [] : ['corrected for the part of the population that was asked']),
  ];
  return `Sampling: ${methods.length > 0 ? methods.join('; ') : 'a simple random sample, as declared'}. Those who did not answer count as like those who did.`;
}

export const estimateKind: QueryKind<typeof schema> = { schema, label, bind };
