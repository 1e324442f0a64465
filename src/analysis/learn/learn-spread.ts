import { roundUp } from '../../calibration/noise.js';
import { commonAnswers, largestPairwiseBase, type PairwiseSpread, pairwiseSpread } from '../../dependence/pairwise-leakage.js';
import { everyRecord, pureProfile } from '../../dependence/profile.js';
import type { AttackFigure } from '../../dependence/spread-file.js';
import type { Engine } from '../../engine/engine.js';
import { Fault } from '../../errors.js';
import { divide, rational, toNumber, toText } from '../../exact/rational.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import type { Policy } from '../../policy/policy.js';
import { keyOf } from '../../query/keys.js';
import type { Receipt } from '../../release/receipt.js';
import { column } from '../../release/relied.js';
import type { Session } from '../../release/session.js';
import { type CodedTable, chooseColumns, chooseRows } from './coded.js';
import { pairTables } from './contingency.js';
import { type SpreadTerms, spreadSensitivity, worstSpread } from './private-spread.js';
import { readSurvey, refuseRepeatedRows, surveyColumns } from './read-survey.js';

export interface SpreadLearning {
  readonly confidence: number;
  /** Answers rarer than this count as one secret together, where the policy's column says nothing else. */
  readonly pool: number;
  /** Judges the release this spread allows at `epsilon` on the very rows, for the reader of the file. */
  readonly judge?: (table: CodedTable, costs: readonly number[]) => { readonly inSample: number; readonly heldOut: number };
  readonly epsilon: number;
}

/** Only the three numbers the pairwise bound needs (and how an attack fared) leave this function. Public columns are strata the attacker knows. */
export async function learnSpread(
  engine: Engine,
  policy: Policy,
  options: SpreadLearning,
): Promise<{ readonly spread: PairwiseSpread; readonly attack?: AttackFigure }> {
  const names = surveyColumns(policy);
  const isPublic = (name: string): boolean => policy.columns.get(name)?.public === true;
  const table = (await readSurvey(engine, policy, names)).table.open();
  const positions = (wanted: boolean): number[] => names.flatMap((name, c) => (isPublic(name) === wanted ? [c] : []));
  const open = chooseColumns(table, positions(false));
  const whole = pairTables(open);
  const secrets = commonAnswers(whole, (i) => {
    const column = policy.columns.get(open.names[i]!);
    return (column?.type === 'category' ? column.pool : undefined) ?? options.pool;
  });
  const forms = strata(chooseColumns(table, positions(true)));
  const spread = pairwiseSpread(forms.length > 1 ? forms.map((rows) => pairTables(chooseRows(open, rows))) : [whole], {
    confidence: options.confidence,
    secrets,
    ...(forms.length > 1 && { forms: true }),
  });
  if (!options.judge) return { spread };
  const base = largestPairwiseBase(spread, options.epsilon);
  const found = options.judge(
    pooledTable(open, secrets),
    open.names.map(() => base),
  );
  const share = (loss: number): number => loss / options.epsilon;
  return { spread, attack: { epsilon: options.epsilon, inSample: share(found.inSample), heldOut: share(found.heldOut) } };
}

export interface PaidSpread {
  readonly epsilon: string;
  readonly confidence: number;
  /** Answers at least this many people gave are covered; public. */
  readonly least: number;
  readonly fresh?: boolean;
}

/** One private number, the worst spread, booked before any row is read; the rest of the file is public arithmetic. */
export async function learnSpreadPaid(
  session: Session,
  { epsilon, confidence, least, fresh = false }: PaidSpread,
): Promise<{ readonly spread: PairwiseSpread; readonly receipt: Receipt }> {
  const { policy } = session;
  refuseRepeatedRows(policy);
  const names = surveyColumns(policy);
  const keys = names.map((name) => keyOf(policy, name));
  const place = (wanted: boolean): number[] =>
    names.flatMap((name, c) => ((policy.columns.get(name)?.public === true) === wanted ? [c] : []));
  const levelsAt = (positions: readonly number[]): number[] => positions.map((c) => keys[c]!.labels.length);
  const [open, known] = [place(false), place(true)];
  const terms: SpreadTerms = {
    least,
    failure: (4 / 5) * (1 - confidence),
    strata: levelsAt(known).reduce((n, v) => n * v, 1),
  };
  const reach = Math.ceil(spreadGrid * spreadSensitivity(levelsAt(open), terms) * (1 + 1e-9)) + 2;
  const allowance = await session.allowance({ epsilon, fresh });
  if (!allowance.pure)
    throw new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');
  const scale = roundUp(divide(rational(reach), allowance.pure));
  const off = surely(toNumber(scale), (1 / 5) * (1 - confidence));
  const profile = pureProfile([[everyRecord, allowance.pure]]);
  const plan = session.frame({
    label: `learn the spread of ${open.length} columns`,
    share: allowance.share,
    spent: allowance.spent,
    route: allowance.route,
    profile,
    reading: allowance.reading,
    mechanism: 'laplace',
    why: 'One number with Laplace noise.',
    measures: [
      {
        name: 'spread',
        cells: 1,
        noise: { kind: 'laplace', scale: toText(scale) },
        error95: (Math.log(20) * toNumber(scale)) / spreadGrid,
      },
    ],
    errors: [],
    candidates: [],
  });
  const { result, receipt } = await session.analyse<string>({
    kind: 'learn spread',
    allowance,
    canonical: JSON.stringify([names, confidence, least]),
    plan,
    profile,
    relied: known.map((c) => column(names[c]!)),
    execute: async (engine) => {
      const noise = laplaceSampler(scale)();
      const table = (await readSurvey(engine, policy, names)).table.open();
      const groups = strata(chooseColumns(table, known));
      const tables = groups.map((rows) => pairTables(chooseRows(chooseColumns(table, open), rows)));
      const score = tables.length > 0 ? worstSpread(tables, terms) : 0;
      return `${BigInt(Math.floor(score * spreadGrid)) + noise}`;
    },
  });
  const others = open.length - 1;
  const bound = Math.min(1, Math.max(0, (Number(result) + off + 1) / spreadGrid));
  return {
    spread: {
      columns: open.length,
      names: open.map((c) => names[c]!),
      tilts: [{ tilt: 1, spread: bound * others }],
      confidence,
      least,
    },
    receipt,
  };
}

const spreadGrid = 2 ** 20;
/** Smallest whole c with P(noise <= -c - 1) = q^(c+1)/(1+q) <= miss. */
const surely = (scale: number, miss: number): number =>
  Math.max(0, Math.ceil(scale * Math.log(1 / ((1 + Math.exp(-1 / scale)) * miss))) - 1);

/** Rows by their answers to the public columns. */
function strata(table: CodedTable): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (let r = 0; r < table.rows; r++) {
    const key = table.columns.map((codes) => codes[r]).join(',');
    const rows = groups.get(key);
    if (rows) rows.push(r);
    else groups.set(key, [r]);
  }
  return [...groups.values()];
}

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
