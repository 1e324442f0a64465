import * as z from 'zod';
import { Fault } from '../base/errors.js';
import { inputProblem, pathText } from '../base/input/input-problem.js';
import { suggest } from '../policy/suggest.js';
import { arrangement } from './arrange.js';
import { boundedList } from './form.js';
import { queryKinds } from './kinds.js';
import type { Batch } from './query.js';

const schemas = Object.values(queryKinds).map(({ schema }) => schema);
type Schema = (typeof schemas)[number];
const query = z.discriminatedUnion('kind', schemas as [Schema, ...Schema[]]);
const batch = z.strictObject({ queries: boundedList(query, 'queries'), arrange: boundedList(arrangement, 'queries').optional() });

/** One query, a list of them, or a batch. */
export const batchForms = z.union([query, z.array(query).readonly(), batch]);

function asBatch(input: unknown): unknown {
  if (Array.isArray(input)) return { queries: input };
  return typeof input === 'object' && input !== null && !('queries' in input) ? { queries: [input] } : input;
}

/** A query, a list of queries or {queries: […]}, from JSON. Faults name the field. */
export function parseBatch(input: unknown): Batch {
  const given = asBatch(input);
  const parsed = batch.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, text, unknown } = inputProblem(parsed.error);
  throw new Fault('QUERY_INVALID', `${pathText(path) || 'the query'}: ${text}`, hintFor(given, path, unknown));
}

/** Hint with the form of the faulty query's kind, or of queries in general where it has no known kind. */
function hintFor(given: unknown, [, place, ...within]: readonly PropertyKey[], unknown: string | undefined): string {
  const queries = (given as { readonly queries?: unknown } | null)?.queries;
  const kind = Array.isArray(queries) ? (queries[Number(place)]?.kind as unknown) : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(queryKinds, kind)) {
    const near = typeof kind === 'string' ? suggest(kind, Object.keys(queryKinds)) : undefined;
    return `${near === undefined ? '' : `Did you mean "${near}"? `}A query looks like {"kind": "mean", "column": "age", "by": ["party"], "where": [{"column": "age", "op": ">", "value": 30}]}; kinds are ${Object.keys(queryKinds).join(', ')}.`;
  }
  const { shape } = queryKinds[kind as keyof typeof queryKinds].schema;
  const names = Object.keys(shape);
  const near = unknown === undefined || within.length > 0 ? undefined : suggest(unknown, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  const isNeeded = (name: string) => !(shape as Record<string, z.ZodType>)[name]!.safeParse(undefined).success;
  return `A query of kind "${kind}" has ${names.filter(isNeeded).join(', ')}, and may have ${names.filter((name) => !isNeeded(name)).join(', ')} (docs/reference/queries/README.md).`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, v]) => v !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}

/** One text per meaning of the JSON form (key order, absent fields), used in ledger keys. */
export const canonical = (value: Batch): string => JSON.stringify(sorted(value));
