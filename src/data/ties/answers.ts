import { Fault } from '../../base/errors.js';
import type { Dependence, Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { wholeLevels } from '../../privacy/dependence/condition.js';
import { combine, type FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { type Network, networkModel } from '../../privacy/dependence/model/network.js';
import {
  type ColumnLevels,
  coarseColumns,
  type Resolution,
  resolutionOf,
  resolutionWords,
} from '../../privacy/dependence/model/resolution.js';
import { answersTo, type RecordClass } from '../../privacy/mechanism/record-class.js';
import { type TieKinds, tieKindOf, tieKinds } from './kinds.js';

/** One declared model of the answers of a person. */
export interface AnswersModel {
  readonly graph: FactorGraph;
  readonly names: readonly string[];
  /** Resolution of the model, if it has tables; a bare odds ratio and a Gaussian distribution apply to any values. */
  readonly levels: readonly ColumnLevels[];
  readonly network?: Network;
  readonly words: readonly string[];
}

/** The route for secret `answer`: the answers of one person are the records, and the declared models tie them. */
export function answersAmplifier(list: readonly Dependence[], policy: Policy, kinds: TieKinds = tieKinds): Amplifier {
  const names = [...policy.columns.values()].filter((c) => !c.public).map((c) => c.name);
  const classes = new Set<RecordClass>(names.map(answersTo));
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined);
  const models = list.map((d) => tieKindOf(d, kinds).answers!(d, policy, names.length, indexOf));
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
    columns: names,
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
    ...(alone && { model: networkModel(alone) }),
    method: 'The noise covers the declared ties between columns.',
  });
}

/** A column without a model would count as independent of all others, which was not declared. */
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
