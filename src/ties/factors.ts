import { type FactorGraph, type FactorSpec, fromFactors } from '../dependence/graph/factor-graph.js';
import { readDeclared } from '../dependence/model/file.js';
import type { Model } from '../dependence/model/model.js';
import { readModel } from '../dependence/model/model-file.js';
import { graphsOf } from '../dependence/model/model-graph.js';
import { Fault } from '../errors.js';
import type { FactorsDependence } from '../policy/policy.js';

/** A model file whose records are named by the unit column (or, for secret `answer`, by column names). */
export const readFactors = (dependence: FactorsDependence): Model => readModel(readDeclared(dependence.model), dependence.model);

export const factorsGraph = (
  dependence: FactorsDependence,
  count: number,
  indexOf: (id: string) => number | undefined,
): FactorGraph => modelGraph(readFactors(dependence), dependence.model, count, indexOf);

/** A model's ties on the records of the data. */
export function modelGraph(model: Model, file: string, count: number, indexOf: (id: string) => number | undefined): FactorGraph {
  const index = model.ids.map((id) => {
    const at = indexOf(id);
    if (at === undefined)
      throw new Fault(
        'MODEL_INVALID',
        'A model file names a record that is not in the data.',
        'Its ids must be values of the unit column (or declared columns, for secret answer).',
        { place: { file } },
      );
    return at;
  });
  if (new Set(index).size !== index.length)
    throw new Fault('MODEL_INVALID', 'A model file names a record twice.', 'Two spellings of one name are one record.', {
      place: { file },
    });
  const graph = graphsOf(model)[0]!;
  const factors: FactorSpec[] = [];
  for (let f = 0; f < graph.factors; f++) {
    const from = graph.start[f]!;
    const to = graph.start[f + 1]!;
    factors.push({
      members: Array.from(graph.member.subarray(from, to), (u) => index[u]!),
      logOdds: Array.from(graph.logOdds.subarray(from, to)),
    });
  }
  return fromFactors(count, factors);
}
