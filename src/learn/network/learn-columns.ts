import { basename } from 'node:path';
import type { Network, NetworkOrigin } from '../../dependence/model/network.js';
import type { Engine } from '../../engine/engine.js';
import { Fault } from '../../errors.js';
import { toNumber, toText } from '../../exact/rational.js';
import { everyRecord, pureProfile, zcdpProfile } from '../../mechanism/profile.js';
import { gaussianSampler } from '../../noise/discrete-gaussian.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import { chooseExponential } from '../../noise/exponential.js';
import type { Policy } from '../../policy/policy.js';
import { readingOf } from '../../release/request-key.js';
import type { Allowance, Session } from '../../release/session.js';
import { chowLiu } from './chow-liu.js';
import { splitColumns } from './coded.js';
import { pairTables } from './contingency.js';
import { fitNetwork } from './fit.js';
import { learnChunks } from './learn-chunks.js';
import { type Chance, learnTree, type PrivateTree, type TreeBudget, treeNetwork } from './private-tree.js';
import { readSurvey, refuseRepeatedRows, type SurveyLevels, surveyColumns, surveyLevels } from './read-survey.js';

type Progress = (done: number, total: number) => void;
type Unpaid = Extract<NetworkOrigin, { learned: 'unpaid' | 'public' }>;

export interface UnpaidLearning {
  /** Exact networks of at most this many columns each; a Chow-Liu forest over all columns when absent. */
  readonly chunk?: number;
  readonly maxParents?: number;
  readonly origin: Unpaid;
  readonly progress?: Progress;
}

/** Reads the rows and keeps what it finds without paying: the result says so and is for the steward's eyes. */
export async function learnUnpaid(engine: Engine, policy: Policy, options: UnpaidLearning): Promise<Network> {
  const survey = await readSurvey(engine, policy);
  const table = survey.table.open();
  const name = basename(policy.file).replace(/\.[^.]*$/, '');
  if (options.chunk === undefined) {
    const forest = chowLiu(pairTables(table));
    const parents = [...forest.parent].map((p) => (p < 0 ? [] : [p]));
    return overLevels(fitNetwork(name, table, survey.values, parents, options.origin), survey);
  }
  const chunks = splitColumns(table.names.length, options.chunk);
  const structures = await learnChunks(table, chunks, options);
  const parents: (readonly number[])[] = [];
  structures.forEach((structure, k) => {
    structure.parents.forEach((list, x) => {
      parents[chunks[k]![x]!] = list.map((p) => chunks[k]![p]!);
    });
  });
  return overLevels(fitNetwork(name, table, survey.values, parents, options.origin), survey);
}

/** The file says what the values of each variable stand for. */
const overLevels = (network: Network, { levels, resolution }: SurveyLevels): Network => ({
  ...network,
  resolution,
  variables: network.variables.map((v, x) => ({ ...v, levels: levels[x]! })),
});

const exactChance: Chance = {
  select: (penalties, sharpness) => chooseExponential({ scores: penalties.map((p) => -p) }, sharpness),
  laplace: (scale) => laplaceSampler(scale),
  gaussian: (variance) => gaussianSampler(variance),
};

export interface PaidNetwork {
  readonly network: Network;
  readonly paid: { readonly entry: number; readonly at: string; readonly replayed: boolean };
}

function treeBudget({ rho, pure }: Allowance): TreeBudget {
  if (rho) return { noise: 'zcdp', rho };
  if (pure) return { noise: 'pure', epsilon: pure };
  throw new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');
}

/** A tree learned within `epsilon` of the policy's budget, booked before any row is read; Gaussian noise where the budget has a delta. */
export async function learnPaid(
  session: Session,
  { epsilon, fresh = false }: { readonly epsilon: string; readonly fresh?: boolean },
  progress?: Progress,
): Promise<PaidNetwork> {
  const { policy, account } = session;
  refuseRepeatedRows(policy);
  const names = surveyColumns(policy);
  const budget = treeBudget(await session.allowance({ epsilon }));
  const profile =
    budget.noise === 'pure' ? pureProfile([[everyRecord, budget.epsilon]]) : zcdpProfile([[everyRecord, budget.rho]]);
  const { answer, entry, replayed } = await session.charge<{
    parent: readonly number[];
    tables: readonly (readonly number[])[];
    values: string[][];
  }>({
    canonical: JSON.stringify(['learn columns', epsilon, names, readingOf(policy)]),
    label: `learn a tree over ${names.length} columns`,
    profile,
    reading: {},
    fresh,
    execute: async (engine) => {
      const survey = await readSurvey(engine, policy, names);
      const tree = learnTree(survey.table.open(), budget, exactChance, progress);
      return {
        parent: tree.parent,
        tables: tree.tables.map((t) => [...t]),
        values: survey.values.map((v) => [...v]),
      };
    },
  });
  const tree: PrivateTree = { parent: answer.parent, tables: answer.tables.map((t) => Float64Array.from(t)) };
  const network = treeNetwork(basename(policy.file).replace(/\.[^.]*$/, ''), tree, names, answer.values, {
    epsilon,
    delta: budget.noise === 'zcdp' ? `${toNumber(account.delta)}` : toText({ num: 0n, den: 1n }),
  });
  return {
    network: overLevels(network, surveyLevels(policy, names)),
    paid: { entry: entry.sequence, at: new Date(entry.at).toISOString(), replayed },
  };
}
