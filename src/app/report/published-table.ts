import type { Policy } from '../../policy/policy.js';
import type { AnswerRow, AnswerTable } from '../../query/bound.js';
import { policyOfQuery } from '../../query/from.js';
import { keyColumns, keyLabels, tableTitle, weightOf } from './key-labels.js';
import { type Ends, shownEnds } from './number.js';

/** Table as published, in every file format: codes for programs, labels and percentages for people. */
export interface PublishedTable {
  readonly name: string;
  /** Wording of the question, if the codebook has it. */
  readonly question?: string;
  /** Present if the noise leaves almost nothing to read. */
  readonly warning?: string;
  readonly fields: readonly PublishedField[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}
export interface PublishedField {
  readonly name: string;
  readonly type: 'string' | 'number';
  readonly meaning: string;
}

/** One column: what is said of it, and its cell in a row. */
interface PublishedColumn extends PublishedField {
  readonly of: (row: AnswerRow) => string | number | null;
}
const figure = (name: string, meaning: string, of: PublishedColumn['of']): PublishedColumn => ({
  name,
  type: 'number',
  meaning,
  of,
});
const text = (name: string, meaning: string, of: PublishedColumn['of']): PublishedColumn => ({
  name,
  type: 'string',
  meaning,
  of,
});

/** Nine digits: more than the noise leaves meaningful, and fewer than doubles print. */
const rounded = (x: number | null | undefined): number | null =>
  x === null || x === undefined ? null : Number(x.toPrecision(9));

const inPercent = (x: number | null | undefined): number | null => rounded(typeof x === 'number' ? 100 * x : null);

/** Unbounded values have no interval: one from the least to the greatest possible value is no information. */
function interval(
  [low, high]: readonly [string, string],
  meaning: string,
  of: (row: AnswerRow) => { readonly value: number | null; readonly ends: Ends | undefined } | undefined,
  shown = rounded,
): readonly PublishedColumn[] {
  const end = (which: keyof Ends) => (row: AnswerRow) => {
    const { value = null, ends } = of(row) ?? {};
    return value === null || !ends ? null : shown(shownEnds(ends.low, ends.high)[which]);
  };
  return [figure(low, `lower end of ${meaning}`, end('low')), figure(high, 'upper end of it', end('high'))];
}

/** Columns of the value and its error, and of the shares where there are some. */
function figureColumns(table: AnswerTable): readonly PublishedColumn[] {
  const value = table.columns.at(-1)!;
  const weight = weightOf(table);
  const shares = table.rows.some(({ share }) => share);
  const sampled = table.rows.some(({ share }) => share?.withSampling);
  const beyond = table.rows.some(({ withSampling }) => withSampling);
  const both = 'the 95 % interval of noise and sampling together';
  return [
    weight === undefined
      ? figure(value, 'noisy value', (r) => r.value)
      : figure(value === 'count' ? 'weighted_count' : value, `noisy value, weighted by ${weight}`, (r) => r.value),
    ...(table.error === 'rank'
      ? [
          figure(
            'rank_error',
            'with 95 % probability the true quantile is within this many ranks',
            ({ rankError }) => rankError ?? null,
          ),
        ]
      : [
          figure('standard_error', 'standard deviation of the noise', (r) =>
            r.value === null ? null : rounded(r.standardError),
          ),
          ...interval(['low', 'high'], 'the 95 % interval of the noise', (r) => ({ value: r.value, ends: r })),
        ]),
    ...(beyond
      ? [
          figure('sampling_error', 'standard error from sampling alone', (r) => rounded(r.withSampling?.standardError)),
          ...interval(['low_with_sampling', 'high_with_sampling'], both, (r) => ({ value: r.value, ends: r.withSampling })),
        ]
      : []),
    ...(shares
      ? [
          figure(
            'percent',
            'percent of those who answered, within each group; from the nearest counts without negative ones',
            ({ share }) => inPercent(share?.value),
          ),
          ...interval(
            ['percent_low', 'percent_high'],
            'its 95 % interval',
            ({ share }) => share && { value: share.value, ends: share },
            inPercent,
          ),
        ]
      : []),
    ...(shares && sampled
      ? interval(
          ['percent_low_with_sampling', 'percent_high_with_sampling'],
          both,
          ({ share }) => share && { value: share.value, ends: share.withSampling },
          inPercent,
        )
      : []),
  ];
}

export function publishedTable(table: AnswerTable, policy: Policy): PublishedTable {
  const labels = keyLabels(table, policy);
  const { columns: known } = policyOfQuery(policy, table.query);
  const domains = keyColumns(table.query).map((name) => known.get(name));
  const keys = table.columns.slice(0, -1);
  const columns = [
    ...keys.map((name, k) => text(name, domains[k]?.label ?? `code of ${name}`, (row) => row.keys[k]!)),
    ...figureColumns(table),
    ...keys.flatMap((name, k) => {
      // A label column only where some label differs from its code.
      const labelled = table.rows.some((row) => labels(row.keys)[k] !== row.keys[k]);
      return labelled ? [text(`${name}_label`, `what the code of ${name} means`, (row) => labels(row.keys)[k]!)] : [];
    }),
  ];
  const question = 'column' in table.query ? known.get(table.query.column)?.label : undefined;
  return {
    name: tableTitle(table),
    ...(question !== undefined && { question }),
    ...((table.mostlyNoise ?? table.arranged ?? table.note) !== undefined && {
      warning: [table.mostlyNoise, table.arranged, table.note].filter((note) => note !== undefined).join(' '),
    }),
    fields: columns.map(({ of: _, ...field }) => field),
    rows: table.rows.map((row) => columns.map(({ of }) => of(row))),
  };
}
