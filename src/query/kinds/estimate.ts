import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { categoryNamed } from '../../policy/domain.js';
import type { Design } from '../../policy/policy.js';
import { foreseen, noiseOf, table } from '../answer.js';
import type { CodeKey } from '../count/measure.js';
import { asked, code, columnName, list } from '../form.js';
import type { QueryKind } from '../kind.js';
import { testFactor } from '../sampling.js';
import { type BoundQuery, furtherBy, rowsOf, type Scope } from '../scope.js';
import { combined, nothing, type Row, sideOf } from '../statistics/group-means.js';
import { meansOf, sharesOf } from '../statistics/groups.js';

const schema = z.strictObject({
  kind: z.literal('estimate'),
  /** A number, for the mean; or a category. */
  column: columnName,
  /** For a category: the values whose share is estimated. */
  values: list(code, 'literals').optional(),
  ...asked,
});
type EstimateQuery = z.output<typeof schema>;
const what = ({ values }: EstimateQuery): string => (values ? 'share' : 'mean');
const label = (query: EstimateQuery): string =>
  `${what(query)} of ${query.column}${query.values ? ` ${query.values.join(' or ')}` : ''} in the population`;

/**
 * Estimate for the population: mean or share, by declared stratum sizes or by weights, and the total where the population size is
 * declared. The sums of squares for the sampling error are paid for (../sampling.proof.md).
 */
function bind(query: EstimateQuery, scope: Scope): BoundQuery {
  const { design } = scope.policy;
  const rows = rowsOf(scope.policy, query);
  const strata = strataOf(scope, query);
  const key = strata && strataKey(strata.column, strata.codes);
  const apart = key ? furtherBy(rows, { key, labels: strata.codes }) : rows;
  const read = query.values ? sharesOf(scope, apart, query.column, query.values) : meansOf(scope, apart, query.column);
  const { one } = testFactor(scope.policy, {});
  const several = strata?.codes.length ?? 1;
  const population = design?.population ?? strata?.all;
  const grouped = (query.by?.length ?? 0) > 0 || (query.where?.length ?? 0) > 0 || scope.policy.view !== undefined;
  // The size of a subpopulation is not declared, so there is no total for one.
  const told = [what(query), ...(population !== undefined && !grouped ? ['total'] : []), 'worth people'];
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), 'figure', query.name ?? query.column],
    cells: rows.cells.flatMap((labels) => told.map((name) => [...labels, name])),
  };
  return {
    finish: (noisy) => {
      const all = rows.cells.map((_, group) => {
        const cells = Array.from({ length: several }, (__, h) => read.group(group * several + h));
        const sides = cells.map((cell, h) => sideOf(cell, noisy, strata ? strata.factor(h) : one, several));
        const { middle, within } = cells[0]!;
        const mean = combined(sides, strata?.parts ?? [1], middle, within);
        const worth = sides.reduce((sum, side) => sum + (side?.people ?? 0), 0);
        return [mean, ...(told.length > 2 ? [times(mean, population!)] : []), { ...nothing, value: worth > 0 ? worth : null }];
      });
      const made = table(layout, 'propagated', (k) => all[Math.floor(k / told.length)]![k % told.length]!);
      return { ...made, note: noteOf(design, query) };
    },
    foresee: (noise) => {
      const { deviation, half } = noiseOf([read.term], noise);
      const spread = Math.sqrt(several);
      return foreseen(layout, 'propagated', spread * deviation, spread * half(0.05), true);
    },
  };
}

const strataKey = (column: string, codes: readonly string[]): CodeKey => ({
  kind: 'code',
  column,
  groups: codes.map((c) => [c]),
  missing: 'drop',
  size: codes.length,
});

/** Strata of the design, unless rows have weights, which replace them. */
function strataOf({ policy }: Scope, { weight, by = [], where = [], column }: EstimateQuery) {
  const declared = policy.design?.strata;
  if (!declared || weight !== undefined || by.includes(declared.column)) return undefined;
  refuseParts(declared.column, column, by.length + where.length > 0 || policy.view !== undefined);
  const codes = codesOf(categoryNamed(policy, declared.column));
  const sizes = codes.map((c) => declared.sizes.get(c)!);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const effect = policy.design!.effect;
  return {
    column: declared.column,
    codes,
    all,
    parts: sizes.map((size) => size / all),
    factor: (h: number) => (people: number) => effect * Math.max(0, 1 - people / sizes[h]!),
  };
}

/** The declared sizes are those of whole strata; with a condition, the fraction of each stratum is unknown, and so is its weight. */
function refuseParts(strata: string, column: string, some: boolean): void {
  if (column === strata)
    throw new Fault('QUERY_INVALID', `How large the strata by "${strata}" are is declared.`, 'Read it off design.strata.');
  if (some)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Of a part of the population it is not declared how large it is in each of the strata by "${strata}".`,
      `Ask it within strata, "by": ["${strata}"], or by weights that make up for how people were drawn: "weight".`,
    );
}

function times(row: Row, by: number): Row {
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
  const how = [
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
  return `Sampling: ${how.length > 0 ? how.join('; ') : 'a simple random sample, as declared'}. Those who did not answer count as like those who did.`;
}

export const estimate: QueryKind<typeof schema> = { schema, label, bind };
