import { Fault } from '../../base/errors.js';
import { basename } from '../../base/platform/paths.js';
import { type FactorGraph, type FactorSpec, fromFactors } from '../../privacy/dependence/graph/factor-graph.js';
import { readDeclared } from '../../privacy/dependence/model/declared-file.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { readModel } from '../../privacy/dependence/model/model-file.js';
import { graphsOf } from '../../privacy/dependence/model/model-graph.js';
import { modelLevels } from '../../privacy/dependence/model/model-levels.js';
import { nameText } from '../engine/name.js';
import { declaredByFile, type FileDependence, recordsNamed, type TieKind } from './kind.js';

export type FactorsDependence = FileDependence<'factors', 'model'>;

/** A model file of any factors, between records or between the answers of one person. */
export const factorsTie: TieKind<FactorsDependence, FactorsDependence> = {
  ...declaredByFile('factors', 'model', 'Write {kind: factors, model: model.json}.'),
  explain: (d) => `records depend on one another as the model ${basename(d.model)} says, and in no other way.`,
  words: () => 'Records follow a distribution on the declared model graph whose odds ratios stay below the declared ones.',
  records: {
    // Model files are written by hand, as the data may be.
    graph: (d, { records }) => modelGraph(readFactors(d), d.model, records.count, (id) => records.named(nameText(id))),
  },
  answers: (d, policy, count, indexOf) => {
    const model = readFactors(d);
    const graph = modelGraph(model, d.model, count, indexOf);
    return { graph, names: model.ids, levels: modelLevels(model, policy, d.model), words: [] };
  },
};

/** A model file whose records are named by the unit column (or, for secret `answer`, by column names). */
const readFactors = (dependence: FactorsDependence): Model => readModel(readDeclared(dependence.model), dependence.model);

/** A model's ties on the records of the data. */
export function modelGraph(model: Model, file: string, count: number, indexOf: (id: string) => number | undefined): FactorGraph {
  const place = { place: { file } };
  const index = recordsNamed(model.ids, indexOf, (why) =>
    why === 'repeated'
      ? new Fault('MODEL_INVALID', 'A model file names a record twice.', 'Two spellings of one name are one record.', place)
      : new Fault(
          'MODEL_INVALID',
          'A model file names a record that is not in the data.',
          'Its ids must be values of the unit column (or declared columns, for secret answer).',
          place,
        ),
  );
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
