import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import { distributionWords } from '../../privacy/mechanism/distribution.js';
import { totalCostOf } from '../../privacy/mechanism/mechanism.js';
import {
  boxIn,
  columnsIn,
  everyRecord,
  isSlice,
  type RecordClass,
  type Slicing,
  sliced,
} from '../../privacy/mechanism/record-class.js';
import type { StepChange } from '../../privacy/mechanism/running/continual-strategy.js';
import { type CountedSteps, type RunningTotals, runningTotals } from '../../privacy/mechanism/running/running-totals.js';
import { type ClassScope, largestSensitivity } from '../../privacy/mechanism/sensitivity.js';
import { bindBatch, requestIdentity } from '../../query/bind.js';
import { isDistinct } from '../../query/count/groups.js';
import type { Measure, SumMeasure } from '../../query/count/measure.js';
import { protectedStepsFault, type Steps } from '../../query/count/public-steps.js';
import { sensitivityOverSteps } from '../../query/count/running-count.js';
import { parseBatch } from '../../query/parse.js';
import type { Query } from '../../query/query.js';
import { valuesIn } from '../accountant/by-slice.js';
import { closingPenalty } from '../accountant/choose.js';
import type { TouchedPart } from '../accountant/route-allowance.js';
import { type AccountBalance, epsilonText, nothingLeft } from '../accountant/share.js';
import { type Allowance, planFieldsOf } from './allowance.js';
import { keyOnRecord, sameCost, unansweredFor } from './on-record.js';
import { noNoise, type Plan } from './plan.js';
import { type PrivacySession, type ReleaseOptions, releaseContextOf } from './session.js';

/**
 * Running totals over a horizon of steps: paid for once, before the first step,
 * and released as the steps come (charge.proof.md, "Parts of what was paid for").
 */
export interface TotalsRequest {
  readonly query: unknown;
  readonly steps: Steps;
  readonly horizon: number;
}

export interface PreparedTotals {
  readonly measure: SumMeasure;
  readonly query: Query;
  readonly text: string;
  readonly key: string;
  readonly totals: RunningTotals;
  readonly budgetShare: BudgetShare;
  readonly plan: Plan;
}

/**
 * Measure over the steps of a horizon. A record may change its step, unless steps are public: its cost is then recorded by step.
 * Of a person nobody knows which rows are kept; the answers of a row stay where the row is.
 */
function overSteps({ policy }: PrivacySession, measure: SumMeasure, { steps, horizon }: TotalsRequest): SumMeasure {
  if (policy.protect.secret === 'answer') return measure;
  return { ...measure, sensitivity: sensitivityOverSteps(policy, measure, steps, horizon) };
}
const slicingOfSteps = ({ policy }: PrivacySession, { steps }: TotalsRequest): Slicing | undefined =>
  slicingsOf(policy).find(({ column }) => column.name === steps.column)?.slicing;

/** Records of one value of another public column may change their step. */
function movesOf(session: PrivacySession, request: TotalsRequest): (record: RecordClass) => StepChange {
  const answers = session.policy.protect.secret === 'answer';
  const step = slicingOfSteps(session, request);
  const fixesStep = (record: RecordClass) => step !== undefined && isSlice(record) && columnsIn(boxIn(record).of).includes(step);
  return (record) => (answers || fixesStep(record) ? 'within a step' : 'between steps');
}

/**
 * Steps of the horizon, where costs are recorded by them: alone,
 * or with other public columns where records that agree in all of them have lower sensitivity.
 */
function stepsTouched(
  session: PrivacySession,
  { sensitivity }: SumMeasure,
  request: TotalsRequest,
): Omit<TouchedPart, 'cost'> | undefined {
  const step = slicingOfSteps(session, request);
  const least = (of: Slicing) => largestSensitivity(sensitivity, 'l1', sliceOf(of));
  const [slicing] = readingsOf(session.policy)
    .filter((of) => step !== undefined && columnsIn(of).includes(step) && sensitivity.has(sliced(of)))
    // If a request selects no step of the horizon, no record restricts the noise, and it is fitted to everybody.
    .filter((of) => least(of) > 0n)
    .sort((a, b) => Number(least(a) - least(b)));
  if (slicing === undefined) return undefined;
  return { slicing, values: columnsIn(slicing).map((column) => valuesIn(sensitivity, column)) };
}
const sliceOf =
  (of: Slicing): ClassScope =>
  (record) =>
    isSlice(record) && boxIn(record).of === of;

/** The counted measure of totals, and the records whose sensitivity sets their noise. */
export function countedTotals(
  session: PrivacySession,
  request: TotalsRequest,
  bound: SumMeasure,
): { readonly counted: CountedSteps; readonly measure: SumMeasure; readonly scope: ClassScope; readonly part?: TouchedPart } {
  const measure = overSteps(session, bound, request);
  const part = stepsTouched(session, measure, request);
  const counted: CountedSteps = {
    name: measure.name,
    cells: measure.cells.length,
    horizon: request.horizon,
    sensitivity: measure.sensitivity,
    moves: movesOf(session, request),
    unit: toNumber(measure.grid),
  };
  const scope: ClassScope = part ? sliceOf(part.slicing) : (record) => record === everyRecord;
  const cost = (budgetShare: BudgetShare) => totalCostOf([runningTotals(counted, budgetShare, scope).mechanism]);
  return { counted, measure, scope, ...(part && { part: { ...part, cost } }) };
}

/** Spends nothing and reads nothing: the error of each total, whatever the data. */
export async function prepareTotals(
  session: PrivacySession,
  request: TotalsRequest,
  options: ReleaseOptions,
): Promise<PreparedTotals> {
  const { policy, account } = session;
  const { steps, horizon } = request;
  const bound = bindBatch(parseBatch(request.query), policy);
  const [query] = bound.queries;
  // Results calculated from other numbers do not add up, even from a single one.
  const asOne = addableMeasure(query!.kind === 'formula' ? [] : bound.measures);
  if (horizon > steps.count)
    throw new Fault(
      'QUERY_INVALID',
      `The column "${steps.column}" has room for ${steps.count} steps only.`,
      'Declare wider bounds, or a shorter --horizon.',
    );
  const text = JSON.stringify([
    'totals',
    epsilonText(options),
    ...requestIdentity(bound, policy),
    [steps.column, steps.unitsOf(1), steps.width, horizon, movesOf(session, request)(everyRecord)],
  ]);
  const key = await keyOnRecord(releaseContextOf(session), session.keysOf(text), options.fresh);
  const { counted, measure, scope, part } = countedTotals(session, request, asOne);
  const reading = { measures: [measure] };
  const by = async (spent?: AccountBalance) => {
    const allowance = await session.allowance(options, everyRecord, reading, { ...(spent && { spent }), part });
    const each = [allowance.pure, allowance.rho].filter((x) => x !== undefined);
    return each.map((budgetShare) => ({ allowance, budgetShare, totals: runningTotals(counted, budgetShare, scope) }));
  };
  const frame = ({ allowance, totals, budgetShare }: TotalsCandidate, completes?: number): PreparedTotals => ({
    measure,
    query: query!,
    text,
    key,
    totals,
    budgetShare,
    plan: totalsPlan(session, {
      allowance,
      totals,
      measure,
      query: query!,
      request,
      options,
      ...(completes !== undefined && { completes }),
    }),
  });
  const open = await unansweredFor(releaseContextOf(session), key, options.fresh === true);
  for (const was of open ? await by(open.before) : [])
    if (sameCost(account.reservedCost(totalCostOf([was.totals.mechanism]), reading), open!.entry.profile))
      return frame(was, open!.entry.sequence);
  const [first, ...others] = await by();
  if (!first) throw nothingLeft();
  const weighed = ({ allowance, budgetShare, totals }: TotalsCandidate): number =>
    allowance.closes && budgetShare.noise === 'pure' ? closingPenalty * totals.meanVariance : totals.meanVariance;
  return frame(others.reduce((best, next) => (weighed(next) < weighed(best) ? next : best), first));
}

interface TotalsCandidate {
  readonly allowance: Allowance;
  readonly budgetShare: BudgetShare;
  readonly totals: RunningTotals;
}

interface TotalsPlanInput extends Omit<TotalsCandidate, 'budgetShare'> {
  readonly measure: SumMeasure;
  readonly query: Query;
  readonly request: TotalsRequest;
  readonly options: ReleaseOptions;
  readonly completes?: number;
}

function totalsPlan(
  session: PrivacySession,
  { allowance, totals, measure, query, request, options, completes }: TotalsPlanInput,
): Plan {
  const { steps, horizon } = request;
  const standardError = Math.sqrt(totals.meanVariance);
  const plan = session.completePlan({
    label: options.label ?? `totals of ${query.name ?? query.kind} over ${horizon} steps of ${steps.column}`.slice(0, 120),
    ...planFieldsOf(allowance),
    ...(completes !== undefined && { completes }),
    mechanisms: [totals.mechanism],
    mechanism: totals.mechanism.distribution.kind,
    why:
      totals.mechanism.distribution.kind === 'none'
        ? noNoise
        : `${distributionWords(totals.mechanism.distribution.kind)} noise by ${totals.strategy.description}: the least mean squared error over ${horizon} steps.`,
    // Expected error of a total over all steps: a sum of many noises, near a normal distribution.
    errors: [
      {
        name: measure.name,
        query,
        cells: measure.cells.length,
        error: 'combined',
        standardError,
        halfWidth: 1.96 * standardError,
        perRow: false,
      },
    ],
    candidates: [],
  });
  // No bound depends on the step if neighbouring data sets may differ in it.
  if (protectedStepsFault(session.policy, steps.column)) return plan;
  const known = `Everybody knows at which ${steps.column} a record stands.`;
  return { ...plan, guarantee: { ...plan.guarantee, assumptions: [...plan.guarantee.assumptions, known] } };
}

function addableMeasure(measures: readonly Measure[]): SumMeasure {
  const [measure, ...others] = measures;
  const adds = measure?.mechanism === 'additive' && others.length === 0 && !isDistinct(measure.counting);
  if (adds && !measure.countedView && !measure.counting.derived?.length) return measure;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    'Totals are made of one thing that adds up from step to step.',
    'Ask for a count, a sum or a histogram; a mean is a sum divided by a count.',
  );
}
