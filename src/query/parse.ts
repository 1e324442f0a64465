import * as z from 'zod';
import { Fault } from '../errors.js';
import type { Batch } from './query.js';

const name = z.string().min(1).max(200);
const literal = z.union([z.string().max(1000), z.number()]);
const condition = z.discriminatedUnion('op', [
  z.strictObject({ column: name, op: z.enum(['=', '!=', '<', '<=', '>', '>=']), value: literal }),
  z.strictObject({ column: name, op: z.enum(['in', 'not in']), values: z.array(literal).min(1).max(10_000) }),
  z.strictObject({ column: name, op: z.enum(['missing', 'present']) }),
]);
const asked = {
  name: name.optional(),
  where: z.array(condition).max(100).optional(),
  by: z.array(name).max(8).optional(),
  weight: name.optional(),
};
const query = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('count'), ...asked }),
  z.strictObject({ kind: z.literal('sum'), column: name, ...asked }),
  z.strictObject({ kind: z.literal('mean'), column: name, ...asked }),
  z.strictObject({ kind: z.literal('variance'), column: name, population: z.boolean().optional(), ...asked }),
  z.strictObject({ kind: z.literal('share'), column: name, values: z.array(z.string().max(1000)).min(1).max(10_000), ...asked }),
  z.strictObject({ kind: z.literal('histogram'), column: name, merged: z.literal(true).optional(), ...asked }),
  z.strictObject({ kind: z.literal('crosstab'), columns: z.tuple([name, name]), ...asked }),
  z.strictObject({
    kind: z.literal('quantile'),
    column: name,
    at: z.array(z.number().gt(0).lt(1).multipleOf(0.001)).min(1).max(100),
    ...asked,
  }),
]);
const batch = z.strictObject({ queries: z.array(query).min(1).max(10_000) });

const asBatch = (input: unknown): unknown =>
  Array.isArray(input)
    ? { queries: input }
    : typeof input === 'object' && input !== null && !('queries' in input)
      ? { queries: [input] }
      : input;

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`)).join('') || 'the query';

/** A query, a list of queries or {queries: […]}, from JSON. Faults name the field. */
export function parseBatch(input: unknown): Batch {
  const parsed = batch.safeParse(asBatch(input));
  if (parsed.success) return parsed.data as Batch;
  const issue = parsed.error.issues[0]!;
  throw new Fault(
    'QUERY_INVALID',
    `${pathText(issue.path)}: ${issue.message.replace(/^Invalid discriminator value\. Expected/, 'expected one of').replaceAll(' | ', ', ')}.`.replace(
      /\.\.$/,
      '.',
    ),
    'A query looks like {"kind": "mean", "column": "age", "by": ["party"], "where": [{"column": "age", "op": ">", "value": 30}]}; kinds are count, sum, mean, variance, share, histogram, crosstab, quantile.',
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
