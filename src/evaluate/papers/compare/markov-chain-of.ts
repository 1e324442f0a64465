import { oneCopy } from '../../../privacy/dependence/model/chain-model.js';
import { isTable, type Model } from '../../../privacy/dependence/model/model.js';
import type { MarkovChain } from '../pufferfish/markov-quilt.js';
import { matrix, stationaryVector } from '../pufferfish/matrix.js';

/**
 * Markov chain of a model, or of each of its people: steps between neighbours with one
 * transition table, and at most a distribution for the first record. Undefined for other models.
 */
export function markovChainOf(whole: Model): MarkovChain | undefined {
  const model = oneCopy(whole);
  const length = model.ids.length;
  const steps = model.factors.filter((f) => f.records.length === 2);
  const starts = model.factors.filter((f) => f.records.length === 1);
  const first = steps[0];
  if (length < 2 || steps.length !== length - 1 || starts.length > 1 || model.factors.length !== steps.length + starts.length)
    return undefined;
  if (!first || !isTable(first)) return undefined;
  const states = model.values[0]!.length;
  if (!model.values.every((v) => v.length === states)) return undefined;
  const { table } = first;
  const inOrder = steps.every((f, t) => isTable(f) && f.records[0] === t && f.records[1] === t + 1 && same(f.table, table));
  const transition = Array.from({ length: states }, (_, s) => [...table.subarray(s * states, (s + 1) * states)]);
  if (!inOrder || !transition.every(isDistribution)) return undefined;
  const start = starts[0];
  if (!start) return model.anyPrior?.[0] === 0 ? { transition, initial: 'any', length } : undefined;
  if (start.records[0] !== 0 || !isTable(start) || !isDistribution([...start.table])) return undefined;
  const still = stationaryVector(matrix(transition));
  const isStill = still?.every((p, s) => Math.abs(p - start.table[s]!) < 1e-12);
  return { transition, initial: isStill ? 'stationary' : [...start.table], length };
}

const same = (a: Float64Array, b: Float64Array) => a === b || (a.length === b.length && a.every((x, k) => x === b[k]));
const isDistribution = (row: readonly number[]) =>
  row.every((p) => p >= 0) && Math.abs(row.reduce((s, p) => s + p, 0) - 1) < 1e-9;
