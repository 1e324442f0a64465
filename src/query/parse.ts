import * as z from 'zod';
import { Fault } from '../errors.js';
import { type LimitName, within } from '../input/limits.js';
import type { Batch } from './query.js';

const atMost =
  (limit: LimitName) =>
  (value: { readonly length: number }): true => {
    within(limit, value.length);
    return true;
  };
const name = z.string().min(1).refine(atMost('nameLength'));
/** What an answer is called goes to terminals, files and reports. */
const title = name.refine((text) => !/\p{Cc}/u.test(text), 'a name may not hold control characters');
const literal = z.union([z.string().refine(atMost('literalLength')), z.number()]);
const list = <T extends z.ZodType>(item: T, limit: LimitName) => z.array(item).min(1).refine(atMost(limit));
const condition = z.discriminatedUnion('op', [
  z.strictObject({ column: name, op: z.enum(['=', '!=', '<', '<=', '>', '>=']), value: literal }),
  z.strictObject({ column: name, op: z.enum(['in', 'not in']), values: list(literal, 'literals') }),
  z.strictObject({ column: name, op: z.enum(['missing', 'present']) }),
]);
const asked = {
  name: title.optional(),
  where: z.array(condition).refine(atMost('conditions')).optional(),
  by: z.array(name).refine(atMost('keys')).optional(),
  weight: name.optional(),
};
const query = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('count'), ...asked }),
  z.strictObject({ kind: z.literal('sum'), column: name, ...asked }),
  z.strictObject({ kind: z.literal('mean'), column: name, ...asked }),
  z.strictObject({ kind: z.literal('variance'), column: name, population: z.boolean().optional(), ...asked }),
  z.strictObject({
    kind: z.literal('share'),
    column: name,
    values: list(z.string().refine(atMost('literalLength')), 'literals'),
    ...asked,
  }),
  z.strictObject({ kind: z.literal('histogram'), column: name, merged: z.literal(true).optional(), ...asked }),
  z.strictObject({ kind: z.literal('crosstab'), columns: z.tuple([name, name]), ...asked }),
  z.strictObject({
    kind: z.literal('quantile'),
    column: name,
    at: list(z.number().gt(0).lt(1).multipleOf(0.001), 'shares'),
    ...asked,
  }),
]);
const batch = z.strictObject({ queries: list(query, 'queries') });

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
