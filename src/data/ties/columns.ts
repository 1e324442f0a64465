import { basename } from '../../base/platform/paths.js';
import type { Dependence } from '../../policy/policy.js';
import { readBif } from '../../privacy/dependence/model/bif.js';
import { readDeclared } from '../../privacy/dependence/model/declared-file.js';
import { networkLevels } from '../../privacy/dependence/model/model-levels.js';
import { type Network, networkModel } from '../../privacy/dependence/model/network.js';
import { readNetworkJson } from '../../privacy/dependence/model/network-json.js';
import type { DeclaredSpread } from '../../privacy/dependence/pairwise/spread-file.js';
import { modelGraph } from './factors.js';
import { declaredByFile, type FileDependence, type TieKind } from './kind.js';
import { declaredPairwise, spreadIn } from './spread.js';
import { learnedWords } from './transitions.js';

export type ColumnsDependence = FileDependence<'columns', 'network'>;

/** The answers of one person follow a declared network, or tables of two columns each (spread.ts). It declares nothing between records. */
export const columnsTie: TieKind<ColumnsDependence, ColumnsDependence> = {
  ...declaredByFile('columns', 'network', 'Write {kind: columns, network: wave1.json}.'),
  explain: (d) => `the answers in one row depend on one another as the network ${basename(d.network)} says, and in no other way.`,
  words: () => 'Answers of one person follow the declared network; when the whole row is the secret it does not matter.',
  answers: (d, policy, count, indexOf) => {
    const network = readNetwork(d);
    const levels = networkLevels(network, policy, d.network);
    const graph = modelGraph(networkModel(network), d.network, count, indexOf);
    return { graph, names: network.variables.map((v) => v.name), levels, network, words: [originOf(network)] };
  },
  separateRoute: (d) => {
    const spread = spreadIn(d.network);
    return spread && ((policy) => declaredPairwise(spread, policy));
  },
};

/** The declared network over the answers of one person: our JSON, or BIF by its ending. */
function readNetwork({ network: file }: ColumnsDependence): Network {
  const text = readDeclared(file);
  return /\.bif$/i.test(file) ? readBif(text, file) : readNetworkJson(text, file);
}

const originOf = ({ origin }: Network): string =>
  origin
    ? learnedWords('The column network was', 'the choice of network', origin)
    : 'The column network was declared by the steward.';

/** `kind: columns` may name a pairwise file instead of a network; undefined when it does not. */
export const declaredSpread = (d: Dependence): DeclaredSpread | undefined =>
  d.kind === columnsTie.kind ? spreadIn((d as ColumnsDependence).network) : undefined;
