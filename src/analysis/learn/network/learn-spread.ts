import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { codesOf } from '../../../policy/code.js';
import { declaredCategory } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import {
  commonAnswers,
  largestPairwiseBase,
  type PairwiseSpread,
  pairwiseSpread,
} from '../../../privacy/dependence/pairwise/leakage.js';
import type { PairTables } from '../../../privacy/dependence/pairwise/pair-tables.js';
import type { AttackFigure, SpreadTables } from '../../../privacy/dependence/pairwise/spread-file.js';
import { noiseWidth } from '../../../privacy/mechanism/additive.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import { columnFact } from '../../../release/session/public-facts.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import type { CodedTable } from './coded.js';
import { countColumnPairs, pairExecution } from './pair-counts.js';
import { type SpreadTerms, spreadNoise, spreadUnits, wholeSpread } from './private-spread.js';
import { networkColumns, readSurvey, refuseRepeatedRows, type SurveyLevels, surveyLevels } from './read-survey.js';

export interface SpreadLearning {
  readonly confidence: number;
  /** Answers rarer than this count as one secret together, unless the policy's column declares otherwise. */
  readonly pool: number;
  /** Evaluates the release that this spread allows at `epsilon` on the same rows, for the reader of the file. */
  readonly judge?: (table: CodedTable, costs: readonly number[]) => { readonly inSample: number; readonly heldOut: number };
  readonly epsilon: number;
}

/**
 * Returns only the three numbers that the pairwise bound needs (and the result of an attack). Public columns are strata the attacker
 * knows.
 */
export async function learnSpreadUnpaid(
  engine: Snapshot,
  policy: Policy,
  options: SpreadLearning,
): Promise<SpreadTables & { readonly attack?: AttackFigure }> {
  const { open, known } = spreadColumns(policy);
  const shown = surveyLevels(policy, open, known);
  const strata = (await countColumnPairs(engine, policy, open, known)).open();
  const secrets = commonAnswers(mergeStrata(strata), (i) => {
    const column = policy.columns.get(open[i]!);
    return (column?.type === 'category' ? column.pool : undefined) ?? options.pool;
  });
  const spread = pairwiseSpread(strata, {
    confidence: options.confidence,
    secrets,
    ...(strata.length > 1 && { forms: true }),
  });
  const tables = spreadTables(spread, shown, known);
  if (!options.judge) return tables;
  const table = (await readSurvey(engine, policy, open)).open();
  const base = largestPairwiseBase(spread, options.epsilon);
  const found = options.judge(
    pooledTable(table, secrets),
    open.map(() => base),
  );
  const share = (loss: number): number => loss / options.epsilon;
  return { ...tables, attack: { epsilon: options.epsilon, inSample: share(found.inSample), heldOut: share(found.heldOut) } };
}

/** Sum of all strata. */
function mergeStrata(strata: readonly PairTables[]): PairTables {
  const [first, ...others] = strata;
  if (others.length === 0) return first!;
  const counts = Float64Array.from(first!.counts);
  for (const other of others) for (let c = 0; c < counts.length; c++) counts[c]! += other.counts[c]!;
  return { ...first!, counts };
}

const spreadTables = (spread: PairwiseSpread, { levels, resolution }: SurveyLevels, known: readonly string[]): SpreadTables => ({
  spread,
  levels,
  resolution,
  known,
});

/**
 * Questions, and the public columns of a person. Tables are counted within each public answer, because the attacker's distribution is
 * conditional on it. Numbers, weights and multi-select columns have too many answers.
 */
function spreadColumns(policy: Policy): { readonly open: readonly string[]; readonly known: readonly string[] } {
  const open = networkColumns(policy).filter((name) => policy.columns.get(name)?.public !== true);
  const known = [...policy.columns.values()].filter((c) => c.public === true && c.name !== policy.protect.unit);
  const other = known.find((c) => c.type !== 'category');
  if (other)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The public column "${other.name}" is known of everybody, and two-column tables would be needed for each of its values.`,
      'Leave it out of the policy if it is not needed, declare it as a category of few codes, or let it be a secret.',
    );
  return { open, known: known.map((c) => c.name) };
}

export interface PaidSpread {
  readonly confidence: number;
  /** Least number of people behind a covered answer; public. */
  readonly least: number;
}

export const planSpreadPaid = async (session: PrivacySession, request: PaidSpread, options: ReleaseOptions = {}): Promise<Plan> =>
  (await prepareSpread(session, request, options)).plan;

async function prepareSpread(session: PrivacySession, { confidence, least }: PaidSpread, options: ReleaseOptions) {
  const { policy } = session;
  refuseRepeatedRows(policy);
  const { open, known } = spreadColumns(policy);
  const survey = surveyLevels(policy, open, known);
  const levels = survey.values.map((labels) => labels.length);
  const terms: SpreadTerms = {
    least,
    failure: (4 / 5) * (1 - confidence),
    strata: known.reduce((n, name) => n * (codesOf(declaredCategory(policy, name)).length + 1), 1),
  };
  const allowance = await session.allowance(options);
  if (!allowance.pure) throw allowance.whyNoPure ?? nothingLeft();
  const noise = spreadNoise(levels, terms, allowance.pure);
  const plan = session.completePlan({
    label: options.label ?? `learn the spread of ${open.length} columns`,
    ...planFieldsOf(allowance),
    mechanisms: [noise],
    mechanism: noise.distribution.kind,
    why: 'One number with Laplace noise.',
    counting: pairExecution(session.dialect, policy, { names: open, known }),
    errors: [],
    candidates: [],
  });
  return { open, known, survey, terms, allowance, noise, plan };
}

/** One private number, the worst spread, paid for before any row is read; the rest of the file is postprocessing. */
export async function learnSpreadPaid(
  session: PrivacySession,
  request: PaidSpread,
  options: ReleaseOptions = {},
): Promise<SpreadTables & { readonly receipt: Receipt }> {
  const { policy } = session;
  const { confidence, least } = request;
  const { open, known, survey, terms, allowance, noise, plan } = await prepareSpread(session, request, options);
  const off = noiseBoundAt(noiseWidth(noise.distribution), (1 / 5) * (1 - confidence));
  const { result, receipt } = await session.analyse<string>({
    kind: 'learn spread',
    allowance,
    canonical: JSON.stringify([open, known, confidence, least]),
    plan,
    mechanisms: [noise],
    relied: known.map(columnFact),
    execute: async (engine, payment) => {
      const add = noise.prepare(payment);
      const strata = (await countColumnPairs(engine, policy, open, known)).open();
      return `${add([wholeSpread(strata, terms)])[0]!}`;
    },
  });
  const others = open.length - 1;
  const bound = Math.min(1, Math.max(0, (Number(result) + off + 1) / spreadUnits));
  const spread = { columns: open.length, names: open, tilts: [{ tilt: 1, spread: bound * others }], confidence, least };
  return { ...spreadTables(spread, survey, known), receipt };
}

/** Smallest whole c with P(noise <= -c - 1) = q^(c+1)/(1+q) <= alpha. */
const noiseBoundAt = (scale: number, alpha: number): number =>
  Math.max(0, Math.ceil(scale * Math.log(1 / ((1 + Math.exp(-1 / scale)) * alpha))) - 1);

/** The table with each column's secrets as its levels. */
function pooledTable(table: CodedTable, secrets: readonly (readonly (readonly number[])[])[]): CodedTable {
  return {
    ...table,
    levels: secrets.map((groups) => groups.length),
    columns: table.columns.map((codes, c) => {
      const place = new Uint16Array(table.levels[c]!);
      secrets[c]!.forEach((group, g) => {
        for (const a of group) place[a] = g;
      });
      return Uint16Array.from(codes, (code) => place[code]!);
    }),
  };
}
