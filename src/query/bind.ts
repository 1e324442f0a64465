import type { Policy } from '../policy/policy.js';
import type { BoundBatch } from './bound.js';
import { bindCount, bindCrosstab, bindHistogram } from './kinds/count.js';
import { bindMean } from './kinds/mean.js';
import { bindQuantile } from './kinds/quantile.js';
import { bindShare } from './kinds/share.js';
import { bindSum } from './kinds/sum.js';
import { bindVariance } from './kinds/variance.js';
import type { Batch, Query, QueryKind } from './query.js';
import { type BoundQuery, openScope, type Scope } from './scope.js';

const kinds: { readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>, scope: Scope) => BoundQuery } = {
  count: bindCount,
  sum: bindSum,
  mean: bindMean,
  variance: bindVariance,
  share: bindShare,
  histogram: bindHistogram,
  crosstab: bindCrosstab,
  quantile: bindQuantile,
};

/** Ties queries to the policy: the integer measures they need, each once, with proven effects. Reads no data. */
export function bindBatch(batch: Batch, policy: Policy): BoundBatch {
  const scope = openScope(policy, batch.queries);
  const bound = batch.queries.map((query) => (kinds[query.kind] as (q: Query, s: Scope) => BoundQuery)(query, scope));
  return {
    queries: batch.queries,
    measures: scope.measures,
    finish: (noisy) => bound.map((query) => query.finish(noisy)),
    foresee: (noise) => bound.map((query) => query.foresee(noise)),
  };
}
