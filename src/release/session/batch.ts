import { Fault } from '../../base/errors.js';
import { isPositive, type Rational, subtract } from '../../base/exact/rational.js';
import { isAddRemove } from '../../policy/neighbours.js';
import {
  distributionFromText,
  distributionText,
  inDoubles,
  type NoiseDistribution,
  varianceOf,
} from '../../privacy/mechanism/distribution.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { nothingSpent, type StoredCost, spend, toStored, withoutZcdp } from '../../privacy/mechanism/privacy-cost.js';
import { bindBatch, requestIdentity } from '../../query/bind.js';
import type { AnswerTable, BoundBatch, NoisyMeasure } from '../../query/bound.js';
import { type ExecutionPlan, executionPlan } from '../../query/count/count.js';
import type { MechanismOf } from '../../query/count/measure.js';
import { type DrawnNoise, type NoisyAnswer, type NoisyVector, noisyCells } from '../../query/count/noisy-cells.js';
import { parseBatch } from '../../query/parse.js';
import { type CanonicalCount, canonicalCount, canonicalCountWithBounds, reorderCells } from '../../query/same/canonical-count.js';
import { reservedShares, type SliceSelection, sliceSelectionOf } from '../accountant/by-slice.js';
import { chooseNoise, type NoisePlan, noNoiseRefusal } from '../accountant/choose.js';
import { type AccountBalance, canonicalEpsilonText, epsilonText, fittingShare } from '../accountant/share.js';
import { accountUsages, usedShare } from '../accountant/used-share.js';
import { type Agreement, agreementOf } from './agreement.js';
import { budgetRemedies } from './budget-remedies.js';
import { charge } from './charge.js';
import { groundOf, type WholeTable, wholeTable } from './ground.js';
import { keyOnRecord, refuseUnrecorded, sameCost, type Unanswered, unansweredFor } from './on-record.js';
import { attachOutcome, notSpent, outcomeOf } from './outcome.js';
import { explainChoice, looseDeltaWarning, mostlyNoiseWarning, noiseKind, type Plan, withNoiseWarning } from './plan.js';
import { factsReliedOn } from './public-facts.js';
import { type Release, replayedOf } from './receipt.js';
import type { ReleaseContext } from './release-context.js';
import type { PrivacySession, ReleaseOptions } from './session.js';
import { tidyCounts, withErrorsOf } from './tidy.js';

/** Whether queries fail together cannot depend on the noise, so an interrupted release is completed later. */
export async function planBatch(
  session: PrivacySession,
  context: ReleaseContext,
  query: unknown,
  options: ReleaseOptions,
): Promise<Plan> {
  const prepared = await prepare(session, context, query, options);
  const plan = addInsteadWarnings(describe(session, prepared), options);
  const { bound, share, standing: balance } = prepared;
  if (plan.fits && plan.errors.every(({ mostlyNoise }) => mostlyNoise === undefined)) return plan;
  const { policy, account } = session;
  const ways = budgetRemedies({ policy, account, spent: balance, share, batch: { queries: bound.queries }, fits: plan.fits });
  return ways.length > 0 ? { ...plan, waysOut: ways } : plan;
}

export async function releaseBatch(
  session: PrivacySession,
  context: ReleaseContext,
  query: unknown,
  options: ReleaseOptions,
): Promise<Release> {
  const prepared = await attachOutcome(notSpent, () => prepare(session, context, query, options));
  const { policy } = session;
  const { bound, best, key, records } = prepared;
  const plan = describe(session, prepared);
  const cost = toStored(withoutZcdp(best.cost));
  const released = { ground: groundOf(policy), tables: bound.measures.map((m) => wholeTable(m, policy) ?? null) };
  const { counted } = bound;
  const recorded = (noisy: NoisyAnswer): RecordedBatchAnswer => ({ plan, profile: cost, noisy, counted, ...(records !== undefined && { records }), at: new Date().toISOString(), told: released }); // biome-ignore format: one line
  const { answer, ...paid } = await charge<RecordedBatchAnswer>(context, {
    key,
    label: plan.label,
    mechanisms: best.mechanisms,
    plan: addInsteadWarnings(plan, options),
    reading: { measures: bound.measures },
    relied: factsReliedOn(bound.measures, policy),
    ...(options.fresh && { fresh: true }),
    resumable: { length: JSON.stringify(recorded(widestAnswer(bound, best.mechanisms))).length },
    execute: async (engine, paid) => recorded(await noisyCells(engine, policy, bound.measures, drawNoise(best.mechanisms, paid))),
  });
  return attachOutcome(outcomeOf(paid), () => {
    const noisy = inOrder(answer, bound);
    const errors = answer.counted ? errorsOfAnswer({ bound, records: answer.records }, noisy) : answer.plan.errors;
    const tables = bound.withSampling(finishBatch(bound, noisy, options.tidy === true));
    const whole = tables.map((table, k) => ({ ...table, ...doubtOf(errors, k) }));
    // A recorded answer comes with the plan it was made under, not with today's.
    const made = addInsteadWarnings(answer.plan, options);
    const receipt = session.receipt({ ...paid, ...answer, plan: made });
    if (paid.replayed) context.replaying?.(replayedOf({ ...made, errors }, receipt));
    return { tables: bound.arrange(whole), receipt };
  });
}

/** Noise against a payment, before anything is read: the time it takes cannot depend on the data. */
export const drawNoise = (mechanisms: readonly MechanismOf[], paid: Payment): readonly DrawnNoise[] =>
  mechanisms.map((mechanism) => ({ noise: distributionText(mechanism.distribution), apply: mechanism.prepare(paid) }));

/** The plan with warnings about what is computed instead of the request. They are not recorded. */
const addInsteadWarnings = (plan: Plan, { instead = [] }: ReleaseOptions): Plan =>
  instead.length > 0 ? { ...plan, warnings: [...instead, ...(plan.warnings ?? [])] } : plan;

/** The warning that was planned for a table is attached to it. */
function doubtOf(errors: Plan['errors'], k: number): Pick<AnswerTable, 'mostlyNoise'> {
  const doubt = errors[k]?.mostlyNoise;
  return doubt === undefined ? {} : { mostlyNoise: doubt };
}

export interface RecordedBatchAnswer {
  readonly plan: Plan;
  readonly profile: StoredCost;
  readonly noisy: NoisyAnswer;
  /** Counts that the numbers stand for; absent where the answer was recorded under the text of its request. */
  readonly counted?: readonly CanonicalCount[];
  /** Number of records at that time: statements about the numbers stay the same when the data grows. */
  readonly records?: number;
  /** Time when the data was read: the entry may have been reserved long before. */
  readonly at?: string;
  /** For each measure, the whole table it is, if any, and the rows it counts: for code that combines answers. */
  readonly told?: { readonly ground: string; readonly tables: readonly (WholeTable | null)[] };
}

/** Recorded noisy numbers, in the order of the present request. */
function inOrder({ noisy, counted }: RecordedBatchAnswer, requested: Pick<Bound, 'counted' | 'former'>): NoisyAnswer {
  if (!counted) return noisy;
  const left = counted.map(({ of, keys }, k) => ({ of, keys, vector: noisy.measures[k]! }));
  return {
    measures: requested.counted.map(({ of, keys }, k) => {
      const found = left.findIndex((own) => own.of === of || own.of === requested.former[k]!.of);
      if (found < 0) throw new RangeError('no such numbers were recorded');
      const [{ keys: from, vector }] = left.splice(found, 1) as [(typeof left)[number]];
      const { values, chosen } = vector;
      return {
        ...vector,
        ...(values && { values: reorderCells(values, from, keys) }),
        ...(chosen && { chosen: reorderCells(chosen, from, keys) }),
      };
    }),
  };
}

/**
 * Longest possible answer: records are padded to its length, so that neither their size nor a full disk depends on the noise.
 * Counts have fewer digits than this, sums have 128 bits, and noise of a thousand scales has probability e^-1000.
 */
const widestAnswer = ({ measures }: BoundBatch, mechanisms: readonly MechanismOf[]): NoisyAnswer => ({
  measures: measures.map((m, k): NoisyVector => {
    const { distribution } = mechanisms[k]!;
    const noise = distributionText(distribution);
    if (m.mechanism === 'exponential') return { noise, chosen: m.cells.map(() => m.candidates.length - 1) };
    const exact = m.counting.value.kind === 'one' ? 16 : 39;
    const drawn = Math.ceil(Math.log10(1 + Math.sqrt(varianceOf(distribution)))) + 3;
    return { noise, values: m.cells.map(() => `-${'9'.repeat(Math.max(exact, drawn))}`) };
  }),
});

/** The adjustment to known totals, and the counted measures in canonical form. */
interface Bound extends BoundBatch, Partial<Pick<Agreement, 'agree'>> {
  readonly counted: readonly CanonicalCount[];
  /** The canonical form before docs/explanation/decisions/0095, with all bounds. */
  readonly former: readonly CanonicalCount[];
  /** How its rows are counted, by their number where that is public. */
  readonly counting: (rows?: number) => ExecutionPlan;
}

interface Prepared {
  readonly bound: Bound;
  readonly plans: readonly NoisePlan[];
  readonly best: NoisePlan;
  readonly share: Rational;
  readonly standing: AccountBalance;
  readonly label: string;
  readonly key: string;
  /** The unanswered entry that already paid for it. */
  readonly completes?: number;
  /** Number of records; absent where the secret is not a record of the data. */
  readonly records?: number;
}

/** Queries that count the same have the same key, however they are written (docs/explanation/decisions/0085). */
async function bindRequest(session: PrivacySession, context: ReleaseContext, query: unknown, options: ReleaseOptions) {
  const { policy } = session;
  const own = bindBatch(parseBatch(query), policy);
  const agreement = policy.known && agreementOf(policy, own.measures);
  const { measures } = agreement ?? own;
  const counted = measures.map((measure, k) => canonicalCount(measure, policy, own.views[k]));
  const former = measures.map((measure, k) => canonicalCountWithBounds(measure, policy, own.views[k]));
  const counting = executionPlan(measures, policy, session.dialect);
  const bound = { ...own, ...agreement, counted, former, counting };
  const identity = requestIdentity(bound, policy);
  const keysBy = (list: readonly CanonicalCount[]) =>
    session.keysOf(JSON.stringify(['counted', canonicalEpsilonText(options), list.map(({ of }) => of).sort()]));
  const written = JSON.stringify(['batch', epsilonText(options), ...identity]);
  const { key } = keysBy(counted);
  const before = keysBy(former);
  // Answers from before the canonical form were recorded under their text, with full paths.
  const keys = {
    key,
    former: [...(before.key === key ? [] : [before.key]), ...before.former, ...session.keysOf(written).former],
  };
  return { bound, key: await keyOnRecord(context, keys, options.fresh) };
}

export async function isBatchRecorded(
  session: PrivacySession,
  context: ReleaseContext,
  query: unknown,
  options: ReleaseOptions,
): Promise<boolean> {
  const { key } = await bindRequest(session, context, query, options);
  return !options.fresh && (await context.ledger.replay(session.policy.population, key)) !== undefined;
}

async function prepare(
  session: PrivacySession,
  context: ReleaseContext,
  query: unknown,
  options: ReleaseOptions,
): Promise<Prepared> {
  const { policy, account } = session;
  const { bound, key } = await bindRequest(session, context, query, options);
  if (context.recordedOnly && !(await context.ledger.replay(policy.population, key))) refuseUnrecorded(context);
  const label =
    options.label ??
    bound.queries
      .map((q) => q.name ?? q.kind)
      .join(', ')
      .slice(0, 120);
  const balance = await session.balance();
  const records = policy.protect.secret === 'edge' || isAddRemove(policy) ? undefined : await session.records();
  const common = { bound, standing: balance, label, key, ...(records !== undefined && { records }) };
  const open = await unansweredFor(context, key, options.fresh === true);
  const request = { session, bound, options, selection: sliceSelectionOf(bound.measures) };
  for (const was of open ? plansAsReserved(request, open) : []) {
    const best = was.plans.find(({ cost }) =>
      sameCost(account.reservedCost(cost, { measures: bound.measures }), open!.entry.profile),
    );
    if (best) return { ...common, share: was.share, plans: was.plans, best, completes: open!.entry.sequence };
  }
  const now = plansAtShare(request, balance);
  const best = now.best ?? now.plans[0];
  if (!best)
    throw (
      noNoiseRefusal(bound.measures, account, balance) ??
      new Fault('QUERY_UNSUPPORTED', 'No proven route covers this query.', 'Ask for fewer columns at once.')
    );
  return { ...common, ...now, best };
}

interface PlansAtShare {
  readonly share: Rational;
  readonly plans: readonly NoisePlan[];
  /** The first plan that would be admitted. */
  readonly best?: NoisePlan;
}

interface PlanRequest {
  readonly session: PrivacySession;
  readonly bound: BoundBatch;
  readonly options: ReleaseOptions;
  readonly selection: SliceSelection;
}

/** Plans with the requested share; with the largest share that fits, where none was requested. */
function plansAtShare({ session, bound, options, selection }: PlanRequest, balance: AccountBalance): PlansAtShare {
  const { measures } = bound;
  // A quota may admit another noise than the best one.
  const admitted = (p: NoisePlan) => p.fits && (!balance.own || session.admits(p.cost, { measures }, balance));
  const withShare = (share: Rational): PlansAtShare => {
    const plans = chooseNoise(measures, session.account, share, balance);
    const best = plans.find(admitted);
    return { share, plans, ...(best && { best }) };
  };
  const requested = withShare(session.share(options, balance, selection));
  if (requested.best || options.epsilon !== undefined) return requested;
  const less = fittingShare(requested.share, (share) => withShare(share).best !== undefined);
  return less ? withShare(less) : requested;
}

/** Shares that an unanswered entry may have been planned with; its cost shows one that a former quota reduced. */
function* plansAsReserved(request: PlanRequest, { entry, before }: Unanswered): Iterable<PlansAtShare> {
  const { session, bound, options, selection } = request;
  const { account } = session;
  const withShare = (share: Rational): PlansAtShare => ({ share, plans: chooseNoise(bound.measures, account, share, before) });
  yield withShare(session.share(options, before, selection));
  if (options.epsilon !== undefined) return;
  yield plansAtShare(request, before);
  const alone = spend(nothingSpent, entry.profile);
  const took = subtract(usedShare(account, spend(before, entry.profile), selection), usedShare(account, before, selection));
  const byReading = accountUsages(account, alone).map(({ share }) => share);
  for (const share of [took, ...byReading, ...reservedShares(account, alone, selection)])
    if (isPositive(share)) yield withShare(share);
}

type ErrorContext = { readonly bound: BoundBatch; readonly records: number | undefined };
/** Expected errors of tables, by the distributions of their noise. */
function errorsOf({ bound, records }: ErrorContext, distributions: readonly NoiseDistribution[]): Plan['errors'] {
  const expected = bound.expectedErrors(distributions.map((distribution) => inDoubles(distribution)));
  return records === undefined ? expected : expected.map((error, k) => withNoiseWarning(error, records, bound.policies[k]!));
}
/** The same for recorded numbers: the present request may form other tables than the recorded one. */
const errorsOfAnswer = (judging: ErrorContext, { measures }: NoisyAnswer): Plan['errors'] =>
  errorsOf(
    judging,
    measures.map(({ noise }) => distributionFromText(noise)),
  );

function describe(session: PrivacySession, prepared: Prepared): Plan {
  const { bound, plans, best, share, standing: balance, label, completes, records } = prepared;
  const errors = errorsOf(
    { bound, records },
    best.mechanisms.map(({ distribution }) => distribution),
  );
  const doubts =
    records === undefined
      ? []
      : [mostlyNoiseWarning(errors, records, bound.policies), looseDeltaWarning(session.account.delta, records)].filter(
          (w) => w !== undefined,
        );
  return session.completePlan({
    label,
    share,
    spent: balance,
    ...(completes !== undefined && { completes }),
    route: best.route,
    mechanisms: best.mechanisms,
    reading: { measures: bound.measures },
    mechanism: noiseKind(best),
    why: explainChoice([best, ...plans.filter((p) => p !== best)], session.policy),
    counting: bound.counting(session.policy.protect.secret === 'person' ? undefined : records),
    errors,
    ...(doubts.length > 0 && { warnings: doubts }),
    candidates: plans.map((p) => ({ mechanism: p.kind, route: p.route.amplifier.name, error: p.error, fits: p.fits })),
  });
}

/** Turns recorded noisy integers into tables; public arithmetic only. */
export function finishBatch(
  bound: BoundBatch & Pick<Bound, 'agree'>,
  answer: NoisyAnswer,
  tidied: boolean,
): readonly AnswerTable[] {
  const distributions = answer.measures.map((m) => distributionFromText(m.noise));
  const released = answer.measures.map((m) => (m.values ?? []).map(BigInt));
  const raw = bound.agree?.(released) ?? released;
  const finish = (values: readonly (readonly bigint[])[]): readonly AnswerTable[] =>
    bound.finish(
      answer.measures.map((m, k) => {
        const distribution = inDoubles(distributions[k]!);
        return (
          m.chosen ? { noise: distribution, chosen: m.chosen } : { noise: distribution, values: values[k]! }
        ) as NoisyMeasure;
      }),
    );
  const tables = finish(raw);
  if (!tidied) return tables;
  const numbers = raw.map((v) => v.map(Number));
  return withErrorsOf(finish(tidyCounts(bound.measures, numbers, distributions.map(varianceOf))), tables);
}
