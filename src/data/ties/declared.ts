import { Fault } from '../../base/errors.js';
import type { Dependence, Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { untied } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { type RecordClass, tuplesIn } from '../../privacy/mechanism/record-class.js';
import type { Snapshot } from '../engine/engine.js';
import { answersAmplifier } from './answers.js';
import { type TieKinds, tieKindOf, tieKinds } from './kinds.js';
import { type ProgressListener, type RecordTies, recordTies } from './record-ties.js';
import { type TiedTuples, tupleAmplifier } from './tuples.js';

export interface Declared extends RecordTies {
  /** True if the bounds depend on the ties in the data as read; other data needs other bounds. */
  readonly readsData: boolean;
}

/** Every proven way from the declared ties to leakage (declared.proof.md); calibration uses whichever gives the least noise. */
export async function declaredAmplifiers(
  policy: Policy,
  engine: Snapshot,
  kinds: TieKinds = tieKinds,
  progress?: ProgressListener,
): Promise<Declared> {
  const { secret } = policy.protect;
  if (secret === 'edge') {
    const tuples = policy.dependence.map((d) => tiedTuples(d, policy, kinds));
    return { amplifiers: [tuples.length > 0 ? tupleAmplifier(policy, tuples) : relationAmplifier(policy)], readsData: false };
  }
  const ties = policy.dependence.map((d) => {
    const kind = tieKindOf(d, kinds);
    return { d, kind, separateRoute: kind.separateRoute?.(d) };
  });
  const rest = ties.filter(({ separateRoute }) => separateRoute === undefined);
  // When answers are the secret, the records of a model that can be about answers are columns.
  const isInside = ({ kind }: (typeof ties)[number]) => secret === 'answer' && kind.answers !== undefined;
  const inside = rest.filter(isInside).map(({ d }) => d);
  const between = rest.filter((t) => !isInside(t));
  const records = await recordTies(between.map(({ d }) => d), { policy, engine, kinds, progress }); // biome-ignore format: one line
  // Answers of tied people: the bound is that of whole rows. Only if people are
  // independent do the ties between one person's answers give a smaller one.
  if (between.some(({ kind }) => kind.records)) return { ...records, readsData: true };
  const answers = inside.length > 0 ? [answersAmplifier(inside, policy, kinds)] : [];
  const separate = ties.flatMap(({ separateRoute }) => (separateRoute ? [separateRoute(policy)] : []));
  return { amplifiers: [...records.amplifiers, ...answers, ...separate], readsData: false };
}

function tiedTuples(d: Dependence, policy: Policy, kinds: TieKinds): TiedTuples {
  const { tuples } = tieKindOf(d, kinds);
  if (!tuples)
    throw new Fault(
      'POLICY_INVALID',
      `With secret: edge, dependence of kind "${d.kind}" says nothing about tuples.`,
      'Declare { kind: ties, relation: friend, oddsRatio: 2, maxTies: 50 }, or none.',
    );
  return { relation: tuples.relation(d), ties: tuples.ties(d, policy), words: tuples.words(d) };
}

function relationAmplifier(policy: Policy): Amplifier {
  const relations = new Set<RecordClass>([...policy.relations.values()].filter((r) => r.private).map((r) => tuplesIn(r.name)));
  return graphAmplifier({
    name: 'independent',
    graph: untied(1),
    scope: (record) => relations.has(record),
    adversary: 'informed',
    reach: 'any',
    assumptions: ['Tuples of the relations are independent of one another; a tie that is not declared is not protected.'],
    method: 'No ties between tuples were declared, so no extra noise is needed.',
  });
}
