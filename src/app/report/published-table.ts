import type { Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import { policyOfQuery } from '../../query/from.js';
import { keyColumns, keyLabels } from './key-labels.js';
import { shownEnds } from './number.js';
import { tableTitle, weightOf } from './table-title.js';

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

const text = (name: string, meaning: string): PublishedField => ({ name, type: 'string', meaning });
const figure = (name: string, meaning: string): PublishedField => ({ name, type: 'number', meaning });

/** Nine digits: more than the noise leaves meaningful, and fewer than doubles print. */
const rounded = (x: number | null | undefined): number | null =>
  x === null || x === undefined ? null : Number(x.toPrecision(9));

const inPercent = (x: number | null | undefined): number | null => rounded(typeof x === 'number' ? 100 * x : null);

/** Unbounded values have no interval: one from the least to the greatest possible value is no information. */
const ends = (
  value: number | null | undefined,
  of: { readonly low: number | null; readonly high: number | null } | undefined,
): readonly (number | null)[] => {
  if (value === null || value === undefined || !of) return [null, null];
  const { low, high } = shownEnds(of.low, of.high);
  return [low, high];
};

export function publishedTable(table: AnswerTable, policy: Policy): PublishedTable {
  const keys = table.columns.slice(0, -1);
  const value = table.columns.at(-1)!;
  const weight = weightOf(table);
  const rank = table.error === 'rank';
  const shares = table.rows.some(({ share }) => share);
  const sampled = table.rows.some(({ share }) => share?.withSampling);
  const beyond = table.rows.some(({ withSampling }) => withSampling);
  const labels = keyLabels(table, policy);
  // A label column only where some label differs from its code.
  const labelled = keys.map((_, k) => table.rows.some((row) => labels(row.keys)[k] !== row.keys[k]));
  const keyDomains = keyColumns(table.query).map((name) => policyOfQuery(policy, table.query).columns.get(name));
  const question =
    'column' in table.query ? policyOfQuery(policy, table.query).columns.get(table.query.column)?.label : undefined;
  const fields = [
    ...keys.map((name, k) => text(name, keyDomains[k]?.label ?? `code of ${name}`)),
    weight === undefined
      ? figure(value, 'noisy value')
      : figure(value === 'count' ? 'weighted_count' : value, `noisy value, weighted by ${weight}`),
    ...(rank
      ? [figure('rank_error', 'with 95 % probability the true quantile is within this many ranks')]
      : [
          figure('standard_error', 'standard deviation of the noise'),
          figure('low', 'lower end of the 95 % interval of the noise'),
          figure('high', 'upper end of it'),
        ]),
    ...(beyond
      ? [
          figure('sampling_error', 'standard error from sampling alone'),
          figure('low_with_sampling', 'lower end of the 95 % interval of noise and sampling together'),
          figure('high_with_sampling', 'upper end of it'),
        ]
      : []),
    ...(shares
      ? [
          figure('percent', 'percent of those who answered, within each group; from the nearest counts without negative ones'),
          figure('percent_low', 'lower end of its 95 % interval'),
          figure('percent_high', 'upper end of it'),
          ...(sampled
            ? [
                figure('percent_low_with_sampling', 'lower end of the 95 % interval of noise and sampling together'),
                figure('percent_high_with_sampling', 'upper end of it'),
              ]
            : []),
        ]
      : []),
    ...keys.flatMap((name, k) => (labelled[k] ? [text(`${name}_label`, `what the code of ${name} means`)] : [])),
  ];
  const rows = table.rows.map((r) => [
    ...r.keys,
    r.value,
    ...(rank ? [r.rankError ?? null] : [r.value === null ? null : r.standardError, ...ends(r.value, r)].map(rounded)),
    ...(beyond ? [r.withSampling?.standardError ?? null, ...ends(r.withSampling && r.value, r.withSampling)].map(rounded) : []),
    ...(shares ? [r.share?.value, ...ends(r.share?.value, r.share)].map(inPercent) : []),
    ...(sampled ? ends(r.share?.value, r.share?.withSampling).map(inPercent) : []),
    ...labels(r.keys).filter((_, k) => labelled[k]),
  ]);
  return {
    name: tableTitle(table),
    ...(question !== undefined && { question }),
    ...((table.mostlyNoise ?? table.arranged ?? table.note) !== undefined && {
      warning: [table.mostlyNoise, table.arranged, table.note].filter((note) => note !== undefined).join(' '),
    }),
    fields,
    rows,
  };
}
