import type * as z from 'zod';
import { countedText } from '../count/measure.js';
import type { Policy } from '../policy/policy.js';
import type { BoundBatch } from './bound.js';
import type { QueryKind } from './kind.js';
import { queryKinds } from './kinds.js';
import { canonical } from './parse.js';
import type { Batch, Query } from './query.js';
import { type BoundQuery, openScope, type Scope } from './scope.js';

/** Ties queries to the policy: the integer measures they need, each once, with proven effects. Reads no data. */
export function bindBatch(batch: Batch, policy: Policy): BoundBatch {
  const scope = openScope(policy, batch.queries);
  const bound = batch.queries.map((query) => bindQuery(query, scope));
  return {
    queries: batch.queries,
    measures: scope.measures,
    finish: (noisy) => bound.map((query) => query.finish(noisy)),
    foresee: (noise) => bound.map((query) => query.foresee(noise)),
  };
}

/**
 * What makes two batches the same: what is asked, and what that counts under this policy. An answer is no answer any more once a domain, a missing code or a
 * support has changed.
 */
export const identityOf = ({ queries, measures }: BoundBatch, policy: Policy): readonly [asked: string, counted: string] => [
  canonical({ queries }),
  countedText(measures, policy),
];

const bindQuery = (query: Query, scope: Scope): BoundQuery =>
  (queryKinds[query.kind] as QueryKind<z.ZodType<Query>>).bind(query, scope);
