import type { Engine } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Adversary, Dependence, Policy, TiesDependence } from '../policy/policy.js';
import type { Amplifier } from './amplifier.js';
import { columnsAmplifier } from './columns.js';
import { declaredPairwise, declaredSpread } from './declared-pairwise.js';
import { tupleAmplifier } from './edge-ties.js';
import { combine, type FactorGraph, untied } from './factor-graph.js';
import { factorsGraph } from './factors.js';
import { gaussianGraph } from './gaussian.js';
import { graphAmplifier } from './graph-amplifier.js';
import { groupsGraph } from './groups.js';
import { everyRecord } from './profile.js';
import { type RecordTable, readRecords } from './records.js';
import { sequenceGraph } from './sequence.js';
import { tiesGraph } from './ties.js';

/** Every proven way from the declared ties to leakage; calibration uses whichever gives the least noise. */
export async function declaredAmplifiers(policy: Policy, engine: Engine): Promise<readonly Amplifier[]> {
  const { secret } = policy.protect;
  if (secret === 'edge') return [policy.dependence.length > 0 ? tupleAmplifier(policy) : relationAmplifier(policy)];
  const spreads = policy.dependence.flatMap((d) => declaredSpread(d) ?? []);
  const overColumns = policy.dependence.filter(
    (d) => (d.kind === 'columns' && declaredSpread(d) === undefined) || (secret === 'answer' && isNamed(d)),
  );
  const overRecords = policy.dependence.filter((d) => !overColumns.includes(d) && declaredSpread(d) === undefined);
  const rows = await recordAmplifier(policy, engine, overRecords);
  // Answers of tied people: coarsen to rows. Only when people are independent does the network of one person's answers say more.
  if (secret === 'answer' && overColumns.length > 0 && overRecords.length === 0)
    return [rows, columnsAmplifier(overColumns, policy)];
  // The same for two-column tables: they speak about one person's answers.
  if (overRecords.length === 0) return [rows, ...spreads.map((spread) => declaredPairwise(spread, policy))];
  return [rows];
}

const isNamed = (d: Dependence): boolean => d.kind === 'factors' || d.kind === 'gaussian';

const builders: {
  [K in Dependence['kind']]: (
    d: Extract<Dependence, { kind: K }>,
    policy: Policy,
    records: RecordTable,
    engine: Engine,
  ) => FactorGraph | Promise<FactorGraph>;
} = {
  groups: (d, _policy, records) => groupsGraph(d, records),
  ties: (d, policy, records, engine) => tiesGraph(d, policy, records, engine),
  sequence: (d, _policy, records) => sequenceGraph(d, records),
  gaussian: (d, _policy, records) => gaussianGraph(d, records.count, records.named),
  factors: (d, _policy, records) => factorsGraph(d, records.count, records.named),
  columns: (_d, _policy, records) => untied(records.count),
};

const words: { [K in Dependence['kind']]: (d: Extract<Dependence, { kind: K }>) => string } = {
  groups: (d) =>
    `Records in one group (${d.by.join(', ')}) are tied with an odds ratio of at most ${odds(d.oddsRatio)}${d.hidden ? ' to a hidden type of the group' : ''}${d.maxSize ? `; no group has more than ${d.maxSize} members` : '; who is in which group is known to the attacker'}.`,
  ties: (d) =>
    `Records in the relation "${d.relation}" are tied with an odds ratio of at most ${d.oddsColumn ? 'what the table says' : odds(d.oddsRatio)}; who is tied to whom is known to the attacker.${d.reach === 'direct' ? " What lies beyond a record's own ties is independent of it; and given the record and everything beyond, its ties are independent of one another." : ''}`,
  sequence: (d) => `The steps of one "${d.by}" in the order of "${d.order}" form a Markov chain with the declared transitions.`,
  gaussian: () => 'Records follow a Gaussian law with the declared precision matrix, restricted to the declared bounds.',
  factors: () => 'Records follow a distribution on the declared model graph whose odds ratios stay below the declared ones.',
  columns: () => 'Answers of one person follow the declared network; when the whole row is the secret it does not matter.',
};
const odds = (ratio: number) => (ratio === Number.POSITIVE_INFINITY ? 'any size (copies)' : `${ratio}`);
export const wordsFor = (d: Dependence): string => (words[d.kind] as (d: Dependence) => string)(d);

async function recordAmplifier(policy: Policy, engine: Engine, list: readonly Dependence[]): Promise<Amplifier> {
  const scope = (record: string) => record === everyRecord;
  const tied = list.filter((d) => d.kind !== 'columns');
  const independent = `Different ${policy.protect.secret === 'person' ? 'persons' : 'rows'} are independent of one another${tied.length > 0 ? ' except for the declared ties' : ''}; a tie that is not declared is not protected.`;
  const assumptions = [independent, ...list.map(wordsFor)];
  if (tied.length === 0)
    return graphAmplifier({
      name: 'independent',
      graph: untied(1),
      scope,
      adversary: 'informed',
      reach: 'any',
      assumptions,
      how: 'Records are declared independent: leakage is the base cost.',
    });
  const structure = tied.flatMap((d) => (d.kind === 'groups' ? d.by : d.kind === 'sequence' ? [d.by, d.order] : []));
  const read = await readRecords(policy, engine, structure);
  // Room for the largest group allowed, also in a table with fewer rows.
  const records = { ...read, count: Math.max(read.count, ...tied.map((d) => (d.kind === 'groups' ? (d.maxSize ?? 0) : 0))) };
  const graphs = await Promise.all(
    tied.map((d) =>
      (builders[d.kind] as (d: Dependence, p: Policy, r: RecordTable, e: Engine) => Promise<FactorGraph>)(
        d,
        policy,
        records,
        engine,
      ),
    ),
  );
  const graph = combine(graphs);
  return graphAmplifier({
    name: 'ties',
    graph,
    scope,
    adversary: policy.protect.adversary,
    reach: reachOf(tied, policy.protect.adversary),
    assumptions,
    how: 'Dependence calculus over the declared ties.',
  });
}

/** `reach: direct` is an assumption about an uninformed attacker, and must hold for all ties at once. */
function reachOf(list: readonly Dependence[], adversary: Adversary): 'any' | 'direct' {
  const direct = list.filter((d): d is TiesDependence => d.kind === 'ties' && d.reach === 'direct');
  if (direct.length === 0) return 'any';
  if (adversary !== 'uninformed')
    throw new Fault(
      'POLICY_INVALID',
      'reach: direct holds against an uninformed attacker only.',
      'Write adversary: uninformed under protect:, or leave reach out.',
    );
  if (direct.length !== list.length)
    throw new Fault(
      'POLICY_INVALID',
      'reach: direct must hold for every declared tie.',
      'Declare reach: direct for all ties, or for none.',
    );
  return 'direct';
}

function relationAmplifier(policy: Policy): Amplifier {
  const relations = new Set([...policy.relations.values()].filter((r) => r.private).map((r) => r.name));
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
