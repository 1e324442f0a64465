import * as z from 'zod';
import { basename, resolve } from '../../base/platform/paths.js';
import type { Dependence } from '../../policy/policy.js';
import { section, word } from '../../policy/schema.js';
import { readBif } from '../../privacy/dependence/model/bif.js';
import { readDeclared } from '../../privacy/dependence/model/declared-file.js';
import { networkLevels } from '../../privacy/dependence/model/model-levels.js';
import { type Network, networkModel } from '../../privacy/dependence/model/network.js';
import { readNetworkJson } from '../../privacy/dependence/model/network-json.js';
import type { DeclaredSpread } from '../../privacy/dependence/pairwise/spread-file.js';
import { modelGraph } from './factors.js';
import type { TieKind } from './kind.js';
import { declaredPairwise, spreadIn } from './spread.js';

export interface ColumnsDependence {
  readonly kind: 'columns';
  readonly network: string;
}

const shape = section({ kind: z.literal('columns'), network: word('network') }, 'Write {kind: columns, network: wave1.json}.');

/** The answers of one person follow a declared network, or tables of two columns each (spread.ts). It declares nothing between records. */
export const columnsTie: TieKind<ColumnsDependence, z.output<typeof shape>> = {
  kind: 'columns',
  shape,
  declare: (entry, _path, { directory }) => ({ kind: 'columns', network: resolve(directory, entry.network) }),
  file: 'network',
  explain: (d) => `the answers in one row depend on one another as the network ${basename(d.network)} says, and in no other way.`,
  words: () => 'Answers of one person follow the declared network; when the whole row is the secret it does not matter.',
  answers: (d, policy, count, indexOf) => {
    const network = readNetwork(d);
    const levels = networkLevels(network, policy, d.network);
    const graph = modelGraph(networkModel(network), d.network, count, indexOf);
    return { graph, names: network.variables.map((v) => v.name), levels, network, words: [networkOrigin(network)] };
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

/** Origin of the network, as a reader of a release must know it. */
function networkOrigin({ origin }: Network): string {
  if (!origin) return 'The column network was declared by the steward.';
  if (origin.learned === 'unpaid')
    return 'The column network was LEARNED FROM THE DATA AND NOT PAID FOR: the guarantee does not cover what the choice of network reveals.';
  return origin.learned === 'paid'
    ? `The column network was learned from the data and paid for (epsilon ${origin.epsilon}, delta ${origin.delta}).`
    : `The column network was learned from public data (${origin.from}).`;
}

/** `kind: columns` may name a pairwise file instead of a network; undefined when it does not. */
export const declaredSpread = (d: Dependence): DeclaredSpread | undefined =>
  d.kind === columnsTie.kind ? spreadIn((d as ColumnsDependence).network) : undefined;
