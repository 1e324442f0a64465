import type { Amplifier } from '../dependence/amplifier.js';
import { untied } from '../dependence/graph/factor-graph.js';
import { graphAmplifier } from '../dependence/graph-amplifier.js';
import type { Engine } from '../engine/engine.js';
import { type RecordClass, tuplesOf } from '../mechanism/record-class.js';
import type { Policy } from '../policy/policy.js';
import { columnsAmplifier, tiesAnswers } from './columns.js';
import { type RecordTies, recordTies } from './record-ties.js';
import { declaredPairwise, declaredSpread } from './spread.js';
import { tupleAmplifier } from './tuples.js';

export interface Declared extends RecordTies {
  /** The bounds rest on who is tied to whom in the data as it was read; other data needs other bounds. */
  readonly readsData: boolean;
}

/** Every proven way from the declared ties to leakage (declared.proof.md); calibration uses whichever gives the least noise. */
export async function declaredAmplifiers(policy: Policy, engine: Engine): Promise<Declared> {
  const { secret } = policy.protect;
  if (secret === 'edge')
    return {
      amplifiers: [policy.dependence.length > 0 ? tupleAmplifier(policy) : relationAmplifier(policy)],
      readsData: false,
    };
  const spreads = policy.dependence.flatMap((d) => declaredSpread(d) ?? []);
  const rest = policy.dependence.filter((d) => declaredSpread(d) === undefined);
  const inside = secret === 'answer' ? rest.filter(tiesAnswers) : [];
  const between = secret === 'answer' ? rest.filter((d) => !tiesAnswers(d)) : rest;
  const records = await recordTies(policy, engine, between);
  // Answers of tied people: coarsen to rows. Only when people are independent do the ties of one person's answers say more.
  if (between.some((d) => d.kind !== 'columns')) return { ...records, readsData: true };
  const answers = [
    ...(inside.length > 0 ? [columnsAmplifier(inside, policy)] : []),
    ...spreads.map((spread) => declaredPairwise(spread, policy)),
  ];
  return { amplifiers: [...records.amplifiers, ...answers], readsData: false };
}

function relationAmplifier(policy: Policy): Amplifier {
  const relations = new Set<RecordClass>([...policy.relations.values()].filter((r) => r.private).map((r) => tuplesOf(r.name)));
  return graphAmplifier({
    name: 'independent',
    graph: untied(1),
    scope: (record) => relations.has(record),
    adversary: 'informed',
    reach: 'any',
    assumptions: ['Tuples of the relations are independent of one another; a tie that is not declared is not protected.'],
    how: 'Tuples are declared independent: leakage is the base cost.',
  });
}
