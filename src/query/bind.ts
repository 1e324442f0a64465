import type * as z from 'zod';
import { Fault } from '../base/errors.js';
import type { Policy } from '../policy/policy.js';
import { applyArrangements, checkArrangement } from './arrange.js';
import type { AnswerTable, BoundBatch } from './bound.js';
import { countedText, type Measure } from './count/measure.js';
import { withDateNote } from './date-notes.js';
import { viewOf } from './from.js';
import { groupKeyOf } from './keys.js';
import type { QueryKind } from './kind.js';
import { queryKinds } from './kinds.js';
import { canonical } from './parse.js';
import type { Batch, Query } from './query.js';
import { samplingOf } from './sampling.js';
import { type BindingScope, type BoundQuery, openBindingScope } from './scope.js';
import type { View } from './view/view.js';
import { countedViewOf } from './view/view-snapshot.js';

/** Binds queries to the policy: the integer measures they need, each once, with proven sensitivities. Reads no data. */
export function bindBatch({ queries, arrange }: Batch, policy: Policy): BoundBatch {
  // Queries over one table, or one view, meet in one scope.
  const about = queries.map(({ from }) => viewOf(policy, from));
  const texts = about.map((view) => JSON.stringify(view ?? null));
  const scopes = new Map<string, ReturnType<typeof openBindingScope>>();
  const bound = queries.map((query, i) => {
    const text = texts[i]!;
    const view = about[i];
    const countedView = view && countedViewOf(policy, view);
    const own = () => queries.filter((_, j) => texts[j] === text);
    const declared = countedView?.policy ?? policy;
    const scope = scopes.get(text) ?? openBindingScope(declared, own(), countedView);
    scopes.set(text, scope);
    return { text, declared, query: bindQuery(query, scope), sampling: samplingOf(query, declared) };
  });
  const starts = new Map<string, number>();
  const measures: Measure[] = [];
  const views: (View | undefined)[] = [];
  for (const [text, scope] of scopes) {
    starts.set(text, measures.length);
    measures.push(...scope.measures);
    const view = about[texts.indexOf(text)];
    views.push(...scope.measures.map(() => view));
  }
  const ofScope = <T>(all: readonly T[], text: string): readonly T[] =>
    all.slice(starts.get(text)!, starts.get(text)! + scopes.get(text)!.measures.length);
  if (arrange) checkArrangement(arrange, queries, (table, key) => groupKeyOf(scopes.get(texts[table]!)!.policy, key).labels);
  return {
    queries,
    arrange: (tables) =>
      (arrange ? applyArrangements(tables, arrange) : tables).map((table, i) =>
        bound[i]!.query.days ? withDateNote(table) : table,
      ),
    measures,
    views,
    policies: bound.map(({ declared }) => declared),
    withSampling: (tables) => tables.map((table, i) => bound[i]!.sampling(table)),
    finish: (noisy) => bound.map(({ query, text }) => query.finish(ofScope(noisy, text))),
    expectedErrors: (noise) => bound.map(({ query, text }) => query.expectedError(ofScope(noise, text))),
  };
}

/**
 * Identity of a request: its text, and what it counts under this policy, since a recorded answer expires
 * when a domain, a missing code or a support changes.
 */
export const requestIdentity = (
  { queries, measures }: BoundBatch,
  policy: Policy,
): readonly [request: string, counted: string] => [canonical({ queries }), countedText(measures, policy)];

function bindQuery(query: Query, scope: BindingScope): BoundQuery {
  const bound = (queryKinds[query.kind] as QueryKind<z.ZodType<Query>>).bind(query, scope);
  const column = 'column' in query && query.column !== undefined ? scope.policy.columns.get(query.column) : undefined;
  if (!column || !('date' in column) || !column.date) return bound;
  if (query.kind === 'sum')
    throw new Fault('QUERY_INVALID', `"${column.name}" is a date: days do not add up.`, 'Ask for its mean, or for quantiles.');
  if (query.kind !== 'mean' && query.kind !== 'quantile') return bound;
  return { ...bound, finish: (noisy) => inDays(bound.finish(noisy)), days: true };
}
/** Answers are numbers; of a date the number of a day. */
const inDays = (table: AnswerTable): AnswerTable => ({
  ...table,
  columns: table.columns.map((name, i, all) => (i < all.length - 1 ? name : `${name} (days since 1970-01-01)`)),
});
