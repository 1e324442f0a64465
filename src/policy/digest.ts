import { createHash } from 'node:crypto';
import { toText } from '../exact/rational.js';
import { modelFile } from './dependence.js';
import type { Budget, Dependence, Protect, Relation } from './policy.js';

/**
 * Digest of what the guarantee depends on. Model files enter by content, not by path, so that a moved policy keeps its terms and an edited model
 * does not. `epsilon` enters as a number: how it was chosen (belief or not) does not matter.
 */
export function digestTerms(
  protect: Protect,
  budget: Budget,
  dependence: readonly Dependence[],
  relations: ReadonlyMap<string, Relation>,
  contents: ReadonlyMap<string, Buffer>,
): string {
  const ties = dependence.map((d) => {
    const model = modelFile(d);
    if (model) return { ...d, [model.key]: createHash('sha256').update(contents.get(model.file)!).digest('hex') };
    const relation = d.kind === 'ties' ? relations.get(d.relation) : undefined;
    return relation ? { ...d, relation: { name: relation.name, columns: relation.columns, symmetric: relation.symmetric } } : d;
  });
  const terms = { protect, epsilon: toText(budget.epsilon), delta: toText(budget.delta), dependence: ties };
  return createHash('sha256').update(canonicalJson(terms)).digest('hex');
}

/** JSON with sorted keys; Infinity has a name of its own. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    v === Number.POSITIVE_INFINITY
      ? 'inf'
      : v !== null && typeof v === 'object' && !Array.isArray(v)
        ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
        : v,
  );
}
