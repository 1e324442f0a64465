import type { Amplifier } from '../dependence/amplifier.js';
import { wholeLevels } from '../dependence/condition.js';
import { combine, type FactorGraph } from '../dependence/graph/factor-graph.js';
import { graphAmplifier } from '../dependence/graph-amplifier.js';
import { readBif } from '../dependence/model/bif.js';
import { readDeclared } from '../dependence/model/file.js';
import { modelLevels, networkLevels } from '../dependence/model/model-levels.js';
import { type Network, networkModel } from '../dependence/model/network.js';
import { readNetworkJson } from '../dependence/model/network-json.js';
import {
  type ColumnLevels,
  coarseColumns,
  type Resolution,
  resolutionOf,
  resolutionWords,
} from '../dependence/model/resolution.js';
import { Fault } from '../errors.js';
import { answersTo, type RecordClass } from '../mechanism/record-class.js';
import type { ColumnsDependence, Dependence, FactorsDependence, GaussianDependence, Policy } from '../policy/policy.js';
import { modelGraph, readFactors } from './factors.js';
import { gaussianGraph, gaussianRecords } from './gaussian.js';
import { wordsFor } from './words.js';

/** The declared network over the answers of one person: our JSON, or BIF by its ending. */
export function readNetwork({ network: file }: ColumnsDependence): Network {
  const text = readDeclared(file);
  return /\.bif$/i.test(file) ? readBif(text, file) : readNetworkJson(text, file);
}

/** What a reader must know about where the network came from. */
export function networkOrigin({ origin }: Network): string {
  if (!origin) return 'The column network was declared by the steward.';
  if (origin.learned === 'unpaid')
    return 'The column network was LEARNED FROM THE DATA AND NOT PAID FOR: the guarantee does not cover what the choice of network reveals.';
  return origin.learned === 'paid'
    ? `The column network was learned from the data and paid for (epsilon ${origin.epsilon}, delta ${origin.delta}).`
    : `The column network was learned from public data (${origin.from}).`;
}

type AnswersDependence = ColumnsDependence | FactorsDependence | GaussianDependence;
/** When answers are the secret, a model's records are columns. */
export const tiesAnswers = (d: Dependence): d is AnswersDependence =>
  d.kind === 'columns' || d.kind === 'factors' || d.kind === 'gaussian';

/** One declared model of the answers of a person. */
interface AnswersModel {
  readonly graph: FactorGraph;
  /** The columns it speaks about. */
  readonly names: readonly string[];
  /** How finely, where it has tables; a bare odds ratio and a Gaussian law are about any values. */
  readonly levels: readonly ColumnLevels[];
  readonly network?: Network;
  readonly words: readonly string[];
}

type Reader<D> = (d: D, policy: Policy, count: number, indexOf: (name: string) => number | undefined) => AnswersModel;
const readers: { [K in AnswersDependence['kind']]: Reader<Extract<AnswersDependence, { kind: K }>> } = {
  columns: (d, policy, count, indexOf) => {
    const network = readNetwork(d);
    const levels = networkLevels(network, policy, d.network);
    const graph = modelGraph(networkModel(network), d.network, count, indexOf);
    return { graph, names: network.variables.map((v) => v.name), levels, network, words: [networkOrigin(network)] };
  },
  factors: (d, policy, count, indexOf) => {
    const model = readFactors(d);
    const graph = modelGraph(model, d.model, count, indexOf);
    return { graph, names: model.ids, levels: modelLevels(model, policy, d.model), words: [] };
  },
  gaussian: (d, policy, count, indexOf) => ({
    graph: gaussianGraph(d, policy, count, indexOf),
    names: gaussianRecords(d),
    levels: [],
    words: [wordsFor(d)],
  }),
};

/** The route for secret `answer`: the answers of one person are the records, and the declared models tie them. */
export function columnsAmplifier(list: readonly AnswersDependence[], policy: Policy): Amplifier {
  const names = [...policy.columns.values()].filter((c) => !c.public).map((c) => c.name);
  const classes = new Set<RecordClass>(names.map(answersTo));
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined);
  const models = list.map((d) => (readers[d.kind] as Reader<AnswersDependence>)(d, policy, names.length, indexOf));
  coverEveryColumn(names, new Set(models.flatMap((m) => m.names)));
  const refuse = (message: string, hint: string): Fault =>
    new Fault('MODEL_INVALID', message, hint, { place: { file: policy.file } });
  const levels = models.flatMap((m) => m.levels);
  const resolution = levels.length > 0 ? resolutionOf(levels, refuse) : undefined;
  if (resolution) refuseFineKnowledge(resolution, policy);
  const alone = models.length === 1 ? models[0]!.network : undefined;
  const open = [...policy.columns.values()].some((c) => c.public) ? ', whatever the public columns say of the person' : '';
  return graphAmplifier({
    name: 'columns',
    scope: (record) => classes.has(record),
    adversary: policy.protect.adversary,
    reach: 'any',
    assumptions: [
      'Different rows are independent of one another.',
      policy.protect.adversary === 'uninformed' && alone
        ? `Answers of one person follow exactly the declared column network, and the attacker knows no other answer of the person${open}.`
        : `Answers of one person follow a distribution on the declared column network whose odds ratios stay below those of its tables${open}.`,
      ...(resolution ? resolutionWords(resolution) : []),
      ...models.flatMap((m) => m.words),
    ],
    ...(resolution && { conditions: [wholeLevels(resolution)] }),
    graph: combine(models.map((m) => m.graph)),
    // Record order differs from the graph's, which is of no matter to a bound over all records at one base.
    ...(alone && { model: networkModel(alone) }),
    how: 'Dependence calculus over the declared ties between columns.',
  });
}

/** A column the models do not mention would count as independent of all others, which nobody said. */
function coverEveryColumn(names: readonly string[], known: ReadonlySet<string>): void {
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined)
    throw new Fault(
      'POLICY_INVALID',
      `The column network does not mention the declared column "${missing}".`,
      'Add it to the network (without parents if it is independent), or mark the column public: true.',
    );
}

/** Given another answer exactly, the levels of the others may be tied in ways that no table of levels shows. */
function refuseFineKnowledge(resolution: Resolution, { protect, file }: Policy): void {
  const [coarse] = coarseColumns(resolution);
  if (coarse !== undefined && protect.adversary === 'informed')
    throw new Fault(
      'POLICY_INVALID',
      `The model knows the column "${coarse}" by levels only, and an informed attacker may know its value exactly.`,
      'Write adversary: uninformed, or declare the column by these levels (a step as wide as the bins, one code per pool).',
      { place: { file } },
    );
}
