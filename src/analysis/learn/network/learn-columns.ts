import { toNumber } from '../../../base/exact/rational.js';
import { basename } from '../../../base/platform/paths.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import type { Policy } from '../../../policy/policy.js';
import type { Network, NetworkOrigin } from '../../../privacy/dependence/model/network.js';
import { levelCell, levelCount, type PairTables, pairCount } from '../../../privacy/dependence/pairwise/pair-tables.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { type Allowance, planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { publicSize, refuseChangedSize } from '../public-size.js';
import { chowLiu } from './chow-liu.js';
import { countMarginal, splitColumns } from './coded.js';
import { fitNetwork } from './fit.js';
import { learnChunks } from './learn-chunks.js';
import { countColumnPairs, pairExecution } from './pair-counts.js';
import { learnTree, type PrivateTree, rowsIn, treeNetwork, treeNoise } from './private-tree.js';
import { networkColumns, readSurvey, refuseRepeatedRows, type SurveyLevels, surveyLevels } from './read-survey.js';

type Progress = (done: number, total: number) => void;
type UnpaidOrigin = Extract<NetworkOrigin, { learned: 'unpaid' | 'public' }>;

export interface UnpaidLearning {
  /** Exact networks of at most this many columns each; a Chow-Liu forest over all columns when absent. */
  readonly chunk?: number;
  readonly maxParents?: number;
  readonly origin: UnpaidOrigin;
  readonly progress?: Progress;
}

/** Learns from the rows without paying: the result is marked as such and is for the steward only. */
export async function learnUnpaidNetwork(engine: Snapshot, policy: Policy, options: UnpaidLearning): Promise<Network> {
  const name = networkName(policy);
  if (options.chunk === undefined) {
    const names = networkColumns(policy);
    const shown = surveyLevels(policy, names);
    const pairs = (await countColumnPairs(engine, policy, names)).open()[0]!;
    const parents = Array.from(chowLiu(pairs).parent, (p) => (p < 0 ? [] : [p]));
    return overLevels(
      fitNetwork({ ...shown, name, parents, origin: options.origin }, (x) => forestCounts(pairs, x, parents[x]![0])),
      shown,
    );
  }
  const table = (await readSurvey(engine, policy)).open();
  const survey = surveyLevels(policy, table.names);
  const chunks = splitColumns(table.names.length, options.chunk);
  const structures = await learnChunks(table, chunks, options);
  const parents: (readonly number[])[] = [];
  structures.forEach((structure, k) => {
    structure.parents.forEach((list, x) => {
      parents[chunks[k]![x]!] = list.map((p) => chunks[k]![p]!);
    });
  });
  return overLevels(
    fitNetwork({ ...survey, name, parents, origin: options.origin }, (x) => countMarginal(table, [...parents[x]!, x])),
    survey,
  );
}

/** Counts of a column, by those of its parent if it has one. */
function forestCounts(pairs: PairTables, x: number, parent: number | undefined): readonly number[] {
  const width = pairs.levels[x]!;
  if (parent === undefined) return Array.from({ length: width }, (_, b) => levelCount(pairs, x, b));
  return Array.from({ length: pairs.levels[parent]! * width }, (_, cell) =>
    pairCount(pairs, levelCell(pairs, parent, Math.floor(cell / width)), levelCell(pairs, x, cell % width)),
  );
}

const networkName = ({ file }: Policy): string => basename(file).replace(/\.[^.]*$/, '');

/** The network with the declared values of each variable, for the file. */
const overLevels = (network: Network, { levels, resolution }: SurveyLevels): Network => ({
  ...network,
  resolution,
  variables: network.variables.map((v, x) => ({ ...v, levels: levels[x]! })),
});

export interface PaidNetwork {
  readonly network: Network;
  readonly receipt: Receipt;
}

interface LearnedTree {
  readonly parent: readonly number[];
  readonly tables: readonly (readonly number[])[];
}

/** Gaussian noise if the budget has a delta. */
function treeBudgetShare({ rho, pure }: Allowance): BudgetShare {
  const budgetShare = rho ?? pure;
  if (budgetShare) return budgetShare;
  throw nothingLeft();
}

export const planPaidNetwork = async (session: PrivacySession, options: ReleaseOptions = {}): Promise<Plan> =>
  (await prepareTree(session, options)).plan;

async function prepareTree(session: PrivacySession, options: ReleaseOptions) {
  const { policy } = session;
  refuseRepeatedRows(policy);
  const names = networkColumns(policy);
  const levels = surveyLevels(policy, names);
  const allowance = await session.allowance(options);
  const budgetShare = treeBudgetShare(allowance);
  const rows = await publicSize(session);
  const noise = treeNoise(
    levels.values.map((labels) => labels.length),
    rows,
    budgetShare,
  );
  const mechanisms = [noise.structure, noise.tables];
  const plan = session.completePlan({
    label: options.label ?? `learn a tree over ${names.length} columns`,
    ...planFieldsOf(allowance),
    mechanisms,
    mechanism: `${noise.tables.distribution.kind}, tree`,
    why: 'Half of the budget chooses which columns are neighbours in the tree, half is for noisy tables of the neighbours.',
    counting: pairExecution(session.dialect, policy, { names, known: [] }),
    errors: [],
    candidates: [],
  });
  return { names, levels, allowance, budgetShare, rows, noise, mechanisms, plan };
}

/** A tree learned within a share of the policy's budget, paid for before any row is read. */
export async function learnPaidNetwork(
  session: PrivacySession,
  options: ReleaseOptions = {},
  progress?: Progress,
): Promise<PaidNetwork> {
  const { policy, account } = session;
  const { names, levels, allowance, budgetShare, rows, noise, mechanisms, plan } = await prepareTree(session, options);
  const { result, receipt } = await session.analyse<LearnedTree>({
    kind: 'learn columns',
    allowance,
    canonical: JSON.stringify(names),
    plan,
    mechanisms,
    still: refuseChangedSize(rows),
    execute: async (engine, payment) => {
      const pairs = (await countColumnPairs(engine, policy, names)).open()[0]!;
      // The noise is planned for this public number of rows; another number means that the data is being written to.
      if (rowsIn(pairs) !== rows) throw new RangeError('the number of records has changed');
      const tree = learnTree(pairs, noise, payment, progress);
      return { parent: tree.parent, tables: tree.tables.map((t) => [...t]) };
    },
  });
  const tree: PrivateTree = { parent: result.parent, tables: result.tables.map((t) => Float64Array.from(t)) };
  const network = treeNetwork(
    tree,
    { ...levels, name: networkName(policy) },
    {
      epsilon: options.epsilon ?? `${plan.epsilon}`,
      delta: budgetShare.noise === 'zcdp' ? `${toNumber(account.delta)}` : '0',
    },
  );
  return { network: overLevels(network, levels), receipt };
}
