import { Fault } from '../../../base/errors.js';
import { toNumber } from '../../../base/exact/rational.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { sequenceTie } from '../../../data/ties/sequence.js';
import type { LearnedFrom, TransitionFile } from '../../../data/ties/transitions.js';
import { codesOf, trimCode } from '../../../policy/code.js';
import { declaredCategory, declaredColumn } from '../../../policy/domain.js';
import { gridOf } from '../../../policy/grid.js';
import type { CategoryColumn, NumberColumn, Policy } from '../../../policy/policy.js';
import { didYouMean } from '../../../policy/suggest.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import type { RecordSensitivity } from '../../../privacy/mechanism/sensitivity.js';
import { Binder } from '../../../query/count/contribution-bound.js';
import type { Axis } from '../../../query/count/measure.js';
import { rawCell, sourceColumn } from '../../../query/count/read-column.js';
import { placesOfRows } from '../../../query/count/rows-to-groups.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { boundedRowsSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { transitionCountSql } from './transition-count-sql.js';
import { transitionShares } from './transition-shares.js';

/** Owner column, order column, and the state that changes. */
export interface TransitionsRequest {
  readonly by: string;
  readonly order: string;
  readonly state: string;
}

export interface LearnedTransitions extends TransitionFile {
  /** Noisy number of counted pairs of steps. */
  readonly pairs: number;
}

export interface PaidTransitions {
  readonly learned: LearnedTransitions;
  /** Scale of the noise in every count. */
  readonly scale: number;
  readonly receipt: Receipt;
}

/** Request completed from the policy's declared sequence. */
export function readTransitionsRequest(policy: Policy, given: Partial<TransitionsRequest>): TransitionsRequest {
  const declared = policy.dependence.find(({ kind }) => kind === sequenceTie.kind) as Partial<TransitionsRequest> | undefined;
  const { by = declared?.by ?? policy.protect.unit, order = declared?.order, state = declared?.state } = given;
  if (by === undefined || order === undefined || state === undefined)
    throw new Fault(
      'QUERY_INVALID',
      'Steps need whose they are, what puts them in order, and the state that changes.',
      'Say by, order and state: three columns.',
    );
  return { by, order, state };
}

export const planTransitions = async (
  session: PrivacySession,
  request: TransitionsRequest,
  options: ReleaseOptions,
): Promise<Plan> => (await prepareTransitions(session, request, options)).plan;

async function prepareTransitions(session: PrivacySession, request: TransitionsRequest, options: ReleaseOptions) {
  const { policy } = session;
  const { states } = columnsOf(policy, request);
  refuseUnknown(request.by, await session.sourceColumns());
  const sensitivity = stepPairSensitivity(policy, request);
  // Counts over whole persons and their own steps are sums; otherwise the contribution of one row depends on adjacent rows.
  const own = policy.protect.secret === 'person' && request.by === policy.protect.unit;
  const allowance = await session.allowance(options, undefined, own ? { sums: true } : {});
  const budgetShare = allowance.rho ?? allowance.pure;
  if (!budgetShare) throw nothingLeft();
  const label = options.label ?? `how ${request.state} follows ${request.state}`;
  const noise = stepNoise(label, states.values.length, sensitivity, budgetShare);
  const plan = session.completePlan({
    label,
    ...planFieldsOf(allowance),
    mechanisms: [noise],
    mechanism: noise.distribution.kind,
    why: 'One noisy table of which state follows which.',
    counting: { where: 'database', database: { statements: 1, rows: states.values.length ** 2 } },
    errors: [],
    candidates: [],
  });
  return { states, allowance, allotment: budgetShare, noise, plan };
}

/** Owners of steps need not be declared: a missing column is found before anything is reserved. */
function refuseUnknown(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new Fault('COLUMN_UNKNOWN', `The data has no column "${name}".`, didYouMean(name, known, 'Columns of the data'));
}

const stepNoise = (name: string, states: number, sensitivity: RecordSensitivity, budgetShare: BudgetShare): AdditiveMechanism =>
  additiveMechanism({ name, cells: states * states, sensitivity }, budgetShare);

/** Transitions from the protected rows, paid for before any of them is read (learn-transitions.proof.md). */
export async function learnTransitionsPaid(
  session: PrivacySession,
  request: TransitionsRequest,
  options: ReleaseOptions,
): Promise<PaidTransitions> {
  const { policy, account } = session;
  const { states, allowance, allotment: budgetShare, noise, plan } = await prepareTransitions(session, request, options);
  const { result, receipt } = await session.analyse<readonly number[]>({
    kind: 'learn transitions',
    allowance,
    canonical: JSON.stringify([request.by, request.order, request.state]),
    plan,
    mechanisms: [noise],
    execute: async (engine, payment) => {
      const add = noise.prepare(payment);
      return add((await countTransitions(engine, policy, request)).open().map(BigInt)).map(Number);
    },
  });
  const delta = budgetShare.noise === 'zcdp' ? `${toNumber(account.delta)}` : '0';
  const origin: LearnedFrom = { learned: 'paid', epsilon: options.epsilon ?? `${plan.epsilon}`, delta };
  return { learned: learnedOf(result, states, origin), scale: noiseWidth(noise.distribution), receipt };
}

/** Learns from the rows without paying: the result is marked as such and is for the steward only. */
export async function learnTransitionsUnpaid(
  engine: Snapshot,
  policy: Policy,
  request: TransitionsRequest,
  origin: LearnedFrom,
): Promise<LearnedTransitions> {
  const { states } = columnsOf(policy, request);
  return learnedOf((await countTransitions(engine, policy, request)).open(), states, origin);
}

const learnedOf = (counts: readonly number[], states: CategoryColumn, origin: LearnedFrom): LearnedTransitions => ({
  states: states.values,
  transition: transitionShares(counts, states.values.length),
  origin,
  pairs: counts.reduce((a, b) => a + Math.max(0, b), 0),
});

function columnsOf(policy: Policy, { order, state }: TransitionsRequest): { states: CategoryColumn; when: NumberColumn } {
  const states = declaredCategory(policy, state);
  const when = declaredColumn(policy, order);
  if (states.values.length < 2)
    throw new Fault('QUERY_UNSUPPORTED', `Column "${state}" has one value, which never changes.`, 'Declare at least two values.');
  if (when.type !== 'integer')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Column "${order}" does not say which step is the next.`,
      'Declare it as an integer: the next step is one more.',
    );
  return { states, when };
}

/** An added or removed row: two pairs more or fewer, perhaps of the same two states. */
const twoPairs = { l1: 2, l2: 2 };

/** Sensitivity of the table to replacing a record. */
export function stepPairSensitivity({ protect }: Policy, { by }: TransitionsRequest): RecordSensitivity {
  if (protect.secret === 'row' || protect.secret === 'step') return boundedRowsSensitivity(1, twoPairs);
  if (protect.secret !== 'person')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Steps can be learned where a row, a step or a person is the secret.',
      'Protect one of these.',
    );
  if (by !== protect.unit) return boundedRowsSensitivity(protect.maxRows, twoPairs);
  if (protect.maxRows < 2)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'With one row of each person no step follows another.',
      'Declare maxRows: the most steps that a person may have.',
    );
  return tableSensitivity(protect.maxRows - 1);
}

/** Count of each transition, one row per former state: aggregated in the database, which returns nothing else. */
export async function countTransitions(
  engine: Snapshot,
  policy: Policy,
  request: TransitionsRequest,
): Promise<Exact<readonly number[]>> {
  const { states, when } = columnsOf(policy, request);
  const columns = await engine.columns();
  const { dialect } = engine;
  const binder = new Binder(dialect);
  const owner = sourceColumn(columns, request.by);
  const who = [dialect.name(rawCell(owner), owner.type), 'who'] as const;
  const rows = placesOfRows({ dialect, policy, columns }, binder, [momentsOf(when), statesOf(states)], [who]);
  const size = states.values.length;
  const counts = new Array<number>(size * size).fill(0);
  for (const [before, now, count] of (await engine.rows({ sql: transitionCountSql(rows), values: binder.values })).open())
    counts[Number(before) * size + Number(now)] = Number(count);
  return new Exact(counts);
}

const momentsOf = (when: NumberColumn): Axis => ({ kind: 'grid', column: when.name, width: 1, size: gridOf(when).last + 1 });

function statesOf(states: CategoryColumn): Axis {
  const known = codesOf(states);
  const codes = states.values.map(trimCode);
  const groups = codes.map((code, i) => (known.includes(code) && codes.indexOf(code) === i ? [code] : []));
  return { kind: 'code', column: states.name, groups, missing: 'drop', size: groups.length };
}
