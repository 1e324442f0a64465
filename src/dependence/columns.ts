import { Fault } from '../errors.js';
import type { ColumnsDependence, Dependence, Policy } from '../policy/policy.js';
import type { Amplifier } from './amplifier.js';
import { readBif } from './bif.js';
import { readDeclared } from './declared-file.js';
import { combine } from './factor-graph.js';
import { factorsGraph, modelGraph } from './factors.js';
import { gaussianGraph } from './gaussian.js';
import { graphAmplifier } from './graph-amplifier.js';
import { type Network, networkModel } from './network.js';
import { readNetworkJson } from './network-json.js';

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

/** The route for secret `answer`: the answers of one person are the records, and the declared network ties them. */
export function columnsAmplifier(list: readonly Dependence[], policy: Policy): Amplifier {
  const names = [...policy.columns.values()].filter((c) => !c.public).map((c) => c.name);
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined);
  const networks = list.filter((d): d is ColumnsDependence => d.kind === 'columns').map(readNetwork);
  const assumptions = [
    'Different rows are independent of one another.',
    policy.protect.adversary === 'uninformed' && networks.length === 1 && list.length === 1
      ? 'Answers of one person follow exactly the declared column network, and the attacker knows no other answer of the person.'
      : 'Answers of one person follow a distribution on the declared column network whose odds ratios stay below those of its tables.',
    ...networks.map(networkOrigin),
  ];
  const shared = {
    name: 'columns',
    scope: (record: string) => names.includes(record),
    adversary: policy.protect.adversary,
    reach: 'any' as const,
    assumptions,
  };
  if (networks.length > 0) coverEveryColumn(names, new Set(networks.flatMap((n) => n.variables.map((v) => v.name))));
  const graphs = list.map((d) => {
    if (d.kind === 'factors') return factorsGraph(d, names.length, indexOf);
    if (d.kind === 'gaussian') return gaussianGraph(d, names.length, indexOf);
    const declared = d as ColumnsDependence;
    return modelGraph(networkModel(readNetwork(declared)), declared.network, names.length, indexOf);
  });
  return graphAmplifier({
    ...shared,
    graph: combine(graphs),
    // Record order differs from the graph's, which is of no matter to a bound over all records at one base.
    ...(networks.length === 1 && list.length === 1 && { model: networkModel(networks[0]!) }),
    how: 'Dependence calculus over the declared ties between columns.',
  });
}

/** A column the network does not mention would count as independent of all others, which nobody said. */
function coverEveryColumn(names: readonly string[], known: ReadonlySet<string>): void {
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined)
    throw new Fault(
      'POLICY_INVALID',
      `The column network does not mention the declared column "${missing}".`,
      'Add it to the network (without parents if it is independent), or mark the column public: true.',
    );
}
