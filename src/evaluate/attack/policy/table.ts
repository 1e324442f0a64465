import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { parseCsv } from '../../../base/input/csv.js';
import { missingLabel } from '../../../policy/code.js';
import type { Policy } from '../../../policy/policy.js';
import type { AdditiveDistribution } from '../../../privacy/mechanism/distribution.js';
import { refusePairs } from './refuse-pairs.js';

const receiptShape = z.object({
  label: z.string(),
  mechanism: z.string(),
  /** Present when a limit on ties left records out of the answer. */
  records: z.object({ used: z.number(), leftOut: z.number() }).optional(),
  guarantee: z.object({
    epsilon: z.number().positive(),
    delta: z.number(),
    adversary: z.string(),
    certified: z.boolean(),
    neighbours: z.literal('add-remove').optional(),
  }),
});

/** Content of a release folder, as far as an attack needs it. */
export interface ReleasedTable {
  readonly column: string;
  /** Codes in the order of the table; the last may be "(missing)". */
  readonly values: readonly string[];
  readonly noisy: readonly number[];
  readonly noise: AdditiveDistribution<number>;
  readonly promised: z.infer<typeof receiptShape>['guarantee'];
  readonly label: string;
  /** Records that the answer is not about. */
  readonly leftOut: number;
}

const unreadable = (what: string) =>
  new Fault('DATA_MALFORMED', `${what} is not what "fugu release --out DIR" writes.`, 'Give the folder of a release, unchanged.');

/** One released histogram (or count by one column); files are the CSVs of the folder, by name. */
export function releasedTable(
  receipt: string,
  files: ReadonlyMap<string, string>,
  policy: Policy,
  wanted?: string,
): ReleasedTable {
  const { label, mechanism, guarantee, records } = readReceipt(receipt);
  const kind = /^(laplace|gaussian)/.exec(mechanism)?.[1];
  if (!kind)
    throw new Fault('QUERY_UNSUPPORTED', 'Only releases with Laplace or Gaussian noise can be attacked.', 'Release a histogram.');
  const tables = [...files].flatMap(([name, text]) => histogramIn(name, text, policy) ?? []);
  const tied = policy.dependence.flatMap((d) => ('column' in d && d.column !== undefined ? [d.column] : []));
  const table =
    wanted !== undefined
      ? tables.find((t) => t.column === wanted)
      : (tables.find((t) => tied.includes(t.column)) ?? tables.find((t) => policy.columns.get(t.column)?.type === 'category'));
  if (!table)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      wanted === undefined
        ? 'The folder holds no histogram of a category column.'
        : `The folder holds no histogram of "${wanted}".`,
      `Histograms and counts by one category column can be attacked${tables.length > 0 ? `: ${tables.map((t) => t.column).join(', ')}` : ''}.`,
    );
  refusePairs(policy, table.column);
  return {
    ...table,
    noise: noiseFrom(kind as 'laplace' | 'gaussian', table.error),
    // Attackers guess values: the odds between two of them change by twice the log odds between a record and none.
    promised: guarantee.neighbours ? { ...guarantee, epsilon: 2 * guarantee.epsilon } : guarantee,
    label,
    leftOut: records?.leftOut ?? 0,
  };
}

function readReceipt(text: string): z.infer<typeof receiptShape> {
  try {
    return receiptShape.parse(JSON.parse(text));
  } catch {
    throw unreadable('receipt.json');
  }
}

function histogramIn(name: string, text: string, policy: Policy) {
  const rows = parseCsv(text, ',');
  if (!rows || rows.length < 2) throw unreadable(name);
  const [header, ...lines] = rows.map((r) => r.cells);
  const column = policy.columns.get(header![0]!);
  if (column?.type !== 'category' || header![1] !== 'count' || header![2] !== 'standard_error') return undefined;
  if (!lines.every((l) => column.values.includes(l[0]!) || l[0] === missingLabel)) return undefined;
  const noisy = lines.map((l) => Number(l[1]));
  const error = Number(lines[0]![2]);
  if (!noisy.every(Number.isFinite) || !(error > 0)) throw unreadable(name);
  return { column: column.name, values: lines.map((l) => l[0]!), noisy, error };
}

/** The distribution from its standard deviation: discrete Laplace noise of scale b has deviation 1 / (sqrt 2 sinh(1 / 2b)). */
const noiseFrom = (kind: 'laplace' | 'gaussian', deviation: number): AdditiveDistribution<number> =>
  kind === 'gaussian' ? { kind, variance: deviation ** 2 } : { kind, scale: 1 / (2 * Math.asinh(Math.SQRT1_2 / deviation)) };
