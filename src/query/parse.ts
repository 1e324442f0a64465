import * as z from 'zod';
import { Fault } from '../errors.js';
import { arrangement } from './arrange.js';
import { list } from './form.js';
import { queryKinds } from './kinds.js';
import type { Batch } from './query.js';

const schemas = Object.values(queryKinds).map(({ schema }) => schema);
type Schema = (typeof schemas)[number];
const query = z.discriminatedUnion('kind', schemas as [Schema, ...Schema[]]);
const batch = z.strictObject({ queries: list(query, 'queries'), arrange: list(arrangement, 'queries').optional() });

/** One query, a list of them, or a batch. */
export const batchForms = z.union([query, z.array(query).readonly(), batch]);

const asBatch = (input: unknown): unknown =>
  Array.isArray(input)
    ? { queries: input }
    : typeof input === 'object' && input !== null && !('queries' in input)
      ? { queries: [input] }
      : input;

/** Of several forms the one that was meant: that which went furthest before something was wrong. */
function inside(issue: z.core.$ZodIssue): { readonly path: readonly PropertyKey[]; readonly message: string } {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const found = issue.errors.map(([first]) => inside(first!));
  const best = found.reduce((most, next) => (next.path.length > most.path.length ? next : most));
  return { path: [...issue.path, ...best.path], message: best.message };
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`)).join('') || 'the query';

/** A query, a list of queries or {queries: […]}, from JSON. Faults name the field. */
export function parseBatch(input: unknown): Batch {
  const parsed = batch.safeParse(asBatch(input));
  if (parsed.success) return parsed.data;
  const issue = inside(parsed.error.issues[0]!);
  throw new Fault(
    'QUERY_INVALID',
    `${pathText(issue.path)}: ${issue.message.replace(/^Invalid discriminator value\. Expected/, 'expected one of').replaceAll(' | ', ', ')}.`.replace(
      /\.\.$/,
      '.',
    ),
    `A query looks like {"kind": "mean", "column": "age", "by": ["party"], "where": [{"column": "age", "op": ">", "value": 30}]}; kinds are ${Object.keys(queryKinds).join(', ')}.`,
  );
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, v]) => v !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sorted(v)]),
        )
      : value;

/** One text per meaning of the JSON form (key order, absent fields): what ledger keys are made of. */
export const canonical = (value: Batch): string => JSON.stringify(sorted(value));
