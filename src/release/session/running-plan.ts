import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import type { Allotment } from '../../privacy/mechanism/allotment.js';
import { largest, type Scope } from '../../privacy/mechanism/effect.js';
import { lawWords } from '../../privacy/mechanism/law.js';
import { costTogether } from '../../privacy/mechanism/mechanism.js';
import {
  boxIn,
  columnsIn,
  everyRecord,
  isSlice,
  type RecordClass,
  type Slicing,
  sliced,
} from '../../privacy/mechanism/record-class.js';
import { type Counted, type RunningTotals, runningTotals } from '../../privacy/mechanism/running/running-totals.js';
import type { Moves } from '../../privacy/mechanism/running/way.js';
import { bindBatch, identityOf } from '../../query/bind.js';
import { isDistinct } from '../../query/count/groups.js';
import type { CountedMeasure, Measure } from '../../query/count/measure.js';
import { hiddenSteps, type Steps } from '../../query/count/public-steps.js';
import { effectsOverSteps } from '../../query/count/running-count.js';
import { parseBatch } from '../../query/parse.js';
import type { Query } from '../../query/query.js';
import { valuesIn } from '../accountant/by-slice.js';
import { closing } from '../accountant/choose.js';
import type { PartTouched } from '../accountant/room-to-spend.js';
import { askedText, nothingLeft, type Standing } from '../accountant/share.js';
import { type Allowance, toldOf } from './allowance.js';
import { keyOnRecord } from './key-on-record.js';
import { noNoise, type Plan } from './plan.js';
import { sameProfile } from './same-profile.js';
import { type AskOptions, deskOf, type Session } from './session.js';
import { unansweredFor } from './unanswered.js';

/**
 * Running totals over a horizon of steps: paid for once, before the first step,
 * and released as the steps come (charge.proof.md, "Parts of what was paid for").
 */
export interface TotalsAsked {
  readonly query: unknown;
  readonly steps: Steps;
  readonly horizon: number;
}

export interface PreparedTotals {
  readonly measure: CountedMeasure;
  readonly query: Query;
  readonly text: string;
  readonly key: string;
  readonly totals: RunningTotals;
  readonly allotment: Allotment;
  readonly plan: Plan;
}

/**
 * Measure over the steps of a horizon. A record may change its step, unless steps are public: its cost is then recorded by step.
 * Of a person nobody knows which rows are kept; the answers of a row stay where the row is.
 */
function overSteps({ policy }: Session, measure: CountedMeasure, { steps, horizon }: TotalsAsked): CountedMeasure {
  if (policy.protect.secret === 'answer') return measure;
  return { ...measure, effects: effectsOverSteps(policy, measure, steps, horizon) };
}
const slicingOfSteps = ({ policy }: Session, { steps }: TotalsAsked): Slicing | undefined =>
  slicingsOf(policy).find(({ column }) => column.name === steps.column)?.slicing;

/** Records of one value of another public column may change their step. */
function movesOf(session: Session, asked: TotalsAsked): (record: RecordClass) => Moves {
  const answers = session.policy.protect.secret === 'answer';
  const step = slicingOfSteps(session, asked);
  const keepsStep = (record: RecordClass) => step !== undefined && isSlice(record) && columnsIn(boxIn(record).of).includes(step);
  return (record) => (answers || keepsStep(record) ? 'within a step' : 'between steps');
}

/**
 * Steps of the horizon, where costs are recorded by them: alone,
 * or with other public columns where records that agree in all of them have lower sensitivity.
 */
function stepsTouched(session: Session, { effects }: CountedMeasure, asked: TotalsAsked): Omit<PartTouched, 'cost'> | undefined {
  const step = slicingOfSteps(session, asked);
  const least = (of: Slicing) => largest(effects, 'l1', sliceOf(of));
  const [slicing] = readingsOf(session.policy)
    .filter((of) => step !== undefined && columnsIn(of).includes(step) && effects.has(sliced(of)))
    // If a request selects no step of the horizon, no record restricts the noise, and it is fitted to everybody.
    .filter((of) => least(of) > 0n)
    .sort((a, b) => Number(least(a) - least(b)));
  if (slicing === undefined) return undefined;
  return { slicing, values: columnsIn(slicing).map((column) => valuesIn(effects, column)) };
}
const sliceOf =
  (of: Slicing): Scope =>
  (record) =>
    isSlice(record) && boxIn(record).of === of;

/** The counted measure of totals, and the records whose sensitivity sets their noise. */
export function countedOf(
  session: Session,
  asked: TotalsAsked,
  bound: CountedMeasure,
): { readonly counted: Counted; readonly measure: CountedMeasure; readonly scope: Scope; readonly part?: PartTouched } {
  const measure = overSteps(session, bound, asked);
  const part = stepsTouched(session, measure, asked);
  const counted: Counted = {
    name: measure.name,
    cells: measure.cells.length,
    horizon: asked.horizon,
    effects: measure.effects,
    moves: movesOf(session, asked),
    unit: toNumber(measure.grid),
  };
  const scope: Scope = part ? sliceOf(part.slicing) : (record) => record === everyRecord;
  const cost = (allotment: Allotment) => costTogether([runningTotals(counted, allotment, scope).mechanism]);
  return { counted, measure, scope, ...(part && { part: { ...part, cost } }) };
}

/** Spends nothing and reads nothing: the error of each total, whatever the data. */
export async function prepareTotals(session: Session, asked: TotalsAsked, options: AskOptions): Promise<PreparedTotals> {
  const { policy, account } = session;
  const { steps, horizon } = asked;
  const bound = bindBatch(parseBatch(asked.query), policy);
  const [query] = bound.queries;
  // Results calculated from other numbers do not add up, even from a single one.
  const asOne = addedUp(query!.kind === 'formula' ? [] : bound.measures);
  if (horizon > steps.count)
    throw new Fault(
      'QUERY_INVALID',
      `The column "${steps.column}" has room for ${steps.count} steps only.`,
      'Declare wider bounds, or a shorter --horizon.',
    );
  const text = JSON.stringify([
    'totals',
    askedText(options),
    ...identityOf(bound, policy),
    [steps.column, steps.unitsOf(1), steps.width, horizon, movesOf(session, asked)(everyRecord)],
  ]);
  const key = await keyOnRecord(deskOf(session), session.keysOf(text), options.fresh);
  const { counted, measure, scope, part } = countedOf(session, asked, asOne);
  const reading = { measures: [measure] };
  const by = async (standing?: Standing) => {
    const allowance = await session.allowance(options, everyRecord, reading, standing, part);
    const each = [allowance.pure, allowance.rho].filter((x) => x !== undefined);
    return each.map((allotment) => ({ allowance, allotment, totals: runningTotals(counted, allotment, scope) }));
  };
  const frame = ({ allowance, totals, allotment }: Candidate, completes?: number): PreparedTotals => ({
    measure,
    query: query!,
    text,
    key,
    totals,
    allotment,
    plan: planOf(session, {
      allowance,
      totals,
      measure,
      query: query!,
      asked,
      options,
      ...(completes !== undefined && { completes }),
    }),
  });
  const open = await unansweredFor(deskOf(session), key, options.fresh === true);
  for (const was of open ? await by(open.before) : [])
    if (sameProfile(account.book(costTogether([was.totals.mechanism]), reading), open!.entry.profile))
      return frame(was, open!.entry.sequence);
  const [first, ...others] = await by();
  if (!first) throw nothingLeft();
  const weighed = ({ allowance, allotment, totals }: Candidate): number =>
    allowance.closes && allotment.noise === 'pure' ? closing * totals.meanVariance : totals.meanVariance;
  return frame(others.reduce((best, next) => (weighed(next) < weighed(best) ? next : best), first));
}

interface Candidate {
  readonly allowance: Allowance;
  readonly allotment: Allotment;
  readonly totals: RunningTotals;
}

interface ToPlan extends Omit<Candidate, 'allotment'> {
  readonly measure: CountedMeasure;
  readonly query: Query;
  readonly asked: TotalsAsked;
  readonly options: AskOptions;
  readonly completes?: number;
}

function planOf(session: Session, { allowance, totals, measure, query, asked, options, completes }: ToPlan): Plan {
  const { steps, horizon } = asked;
  const standardError = Math.sqrt(totals.meanVariance);
  const plan = session.frame({
    label: options.label ?? `totals of ${query.name ?? query.kind} over ${horizon} steps of ${steps.column}`.slice(0, 120),
    ...toldOf(allowance),
    ...(completes !== undefined && { completes }),
    mechanisms: [totals.mechanism],
    mechanism: totals.mechanism.law.kind,
    why:
      totals.mechanism.law.kind === 'none'
        ? noNoise
        : `${lawWords(totals.mechanism.law.kind)} noise by ${totals.way.how}: the least mean squared error over ${horizon} steps.`,
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
  if (hiddenSteps(session.policy, steps.column)) return plan;
  const known = `Everybody knows at which ${steps.column} a record stands.`;
  return { ...plan, guarantee: { ...plan.guarantee, assumptions: [...plan.guarantee.assumptions, known] } };
}

function addedUp(measures: readonly Measure[]): CountedMeasure {
  const [measure, ...others] = measures;
  const adds = measure?.mechanism === 'additive' && others.length === 0 && !isDistinct(measure.counting);
  if (adds && !measure.seen && !measure.counting.derived?.length) return measure;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    'Totals are made of one thing that adds up from step to step.',
    'Ask for a count, a sum or a histogram; a mean is a sum divided by a count.',
  );
}
