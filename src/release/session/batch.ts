import { Fault } from '../../base/errors.js';
import { isPositive, type Rational, subtract } from '../../base/exact/rational.js';
import { addsRemoves } from '../../policy/neighbours.js';
import { inDoubles, type Law, lawFromText, lawText, varianceOf } from '../../privacy/mechanism/law.js';
import { nothingSpent, type StoredProfile, spend, toStored, withoutZcdp } from '../../privacy/mechanism/profile.js';
import { bindBatch, identityOf } from '../../query/bind.js';
import type { AnswerTable, BoundBatch, NoisyMeasure } from '../../query/bound.js';
import { howCounted } from '../../query/count/count.js';
import type { MechanismOf } from '../../query/count/measure.js';
import { type NoisyAnswer, type NoisyVector, noisyCells } from '../../query/count/noisy-cells.js';
import { declaredFor } from '../../query/from.js';
import { parseBatch } from '../../query/parse.js';
import { type Counted, countedAs, countedWithBounds, reordered } from '../../query/same/counted.js';
import { withSampling } from '../../query/sampling.js';
import { usedBy, usedShare } from '../accountant/account.js';
import { type About, aboutOf, bookedShares } from '../accountant/by-slice.js';
import { chooseNoise, type NoisePlan, whyNoNoise } from '../accountant/choose.js';
import { askedText, fittingShare, type Standing, sameText } from '../accountant/share.js';
import { type Agreement, agreementOf } from './agree.js';
import { charge, type Desk, outcomeOf, refuseUnrecorded } from './charge.js';
import { groundOf, type WholeTable, wholeTable } from './ground.js';
import { keyOnRecord } from './key-on-record.js';
import { notSpent, sayingOutcome } from './outcome.js';
import { explainChoice, judged, kindOfNoise, looseDelta, mostlyNoise, type Plan } from './plan.js';
import { type Release, receiptOf } from './receipt.js';
import { reliedOn } from './relied.js';
import { replayedOf } from './replayed.js';
import { sameProfile } from './same-profile.js';
import type { AskOptions, Session } from './session.js';
import { tidy, withErrorsOf } from './tidy.js';
import { type Unanswered, unansweredFor } from './unanswered.js';
import { waysOut } from './ways-out.js';

/**
 * Queries that are planned, paid for and answered together. Whether they fail cannot depend on the noise,
 * so an interrupted release is completed later.
 */
export async function planBatch(session: Session, desk: Desk, query: unknown, options: AskOptions): Promise<Plan> {
  const prepared = await prepare(session, desk, query, options);
  const plan = sayingInstead(describe(session, prepared), options);
  const { bound, share, standing } = prepared;
  if (plan.fits && plan.errors.every(({ mostlyNoise }) => mostlyNoise === undefined)) return plan;
  const { policy, account } = session;
  const ways = waysOut({ policy, account, spent: standing, share, batch: { queries: bound.queries }, fits: plan.fits });
  return ways.length > 0 ? { ...plan, waysOut: ways } : plan;
}

export async function releaseBatch(session: Session, desk: Desk, query: unknown, options: AskOptions): Promise<Release> {
  const prepared = await sayingOutcome(notSpent, () => prepare(session, desk, query, options));
  const { policy } = session;
  const { bound, best, key, records } = prepared;
  const plan = describe(session, prepared);
  const profile = toStored(withoutZcdp(best.profile));
  const told = { ground: groundOf(policy), tables: bound.measures.map((m) => wholeTable(m, policy) ?? null) };
  const { counted } = bound;
  const recorded = (noisy: NoisyAnswer): Recorded => ({ plan, profile, noisy, counted, ...(records !== undefined && { records }), at: new Date().toISOString(), told }); // biome-ignore format: one line
  const { answer, ...paid } = await charge<Recorded>(desk, {
    key,
    label: plan.label,
    mechanisms: best.mechanisms,
    plan: sayingInstead(plan, options),
    reading: { measures: bound.measures },
    relied: reliedOn(bound.measures, policy),
    ...(options.fresh && { fresh: true }),
    resumable: { length: JSON.stringify(recorded(widestAnswer(bound, best.mechanisms))).length },
    execute: async (engine, paid) => recorded(await noisyCells(engine, policy, bound.measures, best.mechanisms, paid)),
  });
  return sayingOutcome(outcomeOf(paid), () => {
    const noisy = inOrder(answer, bound);
    const errors = answer.counted ? foreseenOf(session, { bound, records: answer.records }, noisy) : answer.plan.errors;
    const whole = finishBatch(bound, noisy, options.tidy === true).map((table, k) => ({
      ...withSampling(table, declaredFor(policy, table.query)),
      ...doubtOf(errors, k),
    }));
    // A recorded answer comes with the plan it was made under, not with today's.
    const made = sayingInstead(answer.plan, options);
    const receipt = receiptOf({ policy, ...paid, ...answer, plan: made });
    if (paid.replayed) desk.replaying?.(replayedOf({ ...made, errors }, receipt));
    return { tables: bound.arrange(whole), receipt };
  });
}

/** The plan with warnings about what is computed instead of the request. They are not recorded. */
const sayingInstead = (plan: Plan, { instead = [] }: AskOptions): Plan =>
  instead.length > 0 ? { ...plan, warnings: [...instead, ...(plan.warnings ?? [])] } : plan;

/** The warning that was planned for a table is attached to it. */
function doubtOf(errors: Plan['errors'], k: number): Pick<AnswerTable, 'mostlyNoise'> {
  const said = errors[k]?.mostlyNoise;
  return said === undefined ? {} : { mostlyNoise: said };
}

/** Answer as recorded in the ledger. */
export interface Recorded {
  readonly plan: Plan;
  readonly profile: StoredProfile;
  readonly noisy: NoisyAnswer;
  /** Counts that the numbers stand for; absent where the answer was recorded under the text of its request. */
  readonly counted?: readonly Counted[];
  /** Number of records at that time: statements about the numbers stay the same when the data grows. */
  readonly records?: number;
  /** Time when the data was read: the entry may have been reserved long before. */
  readonly at?: string;
  /** For each measure, the whole table it is, if any, and the rows it counts: for code that combines answers. */
  readonly told?: { readonly ground: string; readonly tables: readonly (WholeTable | null)[] };
}

/** Recorded noisy numbers, in the order of the present request. */
function inOrder({ noisy, counted }: Recorded, asked: Pick<Bound, 'counted' | 'former'>): NoisyAnswer {
  if (!counted) return noisy;
  const left = counted.map(({ of, keys }, k) => ({ of, keys, vector: noisy.measures[k]! }));
  return {
    measures: asked.counted.map(({ of, keys }, k) => {
      const found = left.findIndex((own) => own.of === of || own.of === asked.former[k]!.of);
      if (found < 0) throw new RangeError('no such numbers were recorded');
      const [{ keys: from, vector }] = left.splice(found, 1) as [(typeof left)[number]];
      const { values, chosen } = vector;
      return {
        ...vector,
        ...(values && { values: reordered(values, from, keys) }),
        ...(chosen && { chosen: reordered(chosen, from, keys) }),
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
    const { law } = mechanisms[k]!;
    const noise = lawText(law);
    if (m.mechanism === 'exponential') return { noise, chosen: m.cells.map(() => m.candidates.length - 1) };
    const exact = m.counting.value.kind === 'one' ? 16 : 39;
    const drawn = Math.ceil(Math.log10(1 + Math.sqrt(varianceOf(law)))) + 3;
    return { noise, values: m.cells.map(() => `-${'9'.repeat(Math.max(exact, drawn))}`) };
  }),
});

/** The adjustment to known totals, and the counted measures in canonical form. */
type Bound = BoundBatch &
  Pick<Agreement, 'agree'> & {
    readonly counted: readonly Counted[];
    /** The canonical form before docs/decisions/0095, with all bounds. */
    readonly former: readonly Counted[];
  };

interface Prepared {
  readonly bound: Bound;
  readonly plans: readonly NoisePlan[];
  readonly best: NoisePlan;
  readonly share: Rational;
  readonly standing: Standing;
  readonly label: string;
  /** Identity of the request. */
  readonly key: string;
  /** The unanswered entry that already paid for it. */
  readonly completes?: number;
  /** Number of records; absent where the secret is not a record of the data. */
  readonly records?: number;
}

/**
 * The bound query and the key of its record: queries that count the same have the same key,
 * however they are written (docs/decisions/0085).
 */
async function bindFor(session: Session, desk: Desk, query: unknown, options: AskOptions) {
  const { policy } = session;
  const own = bindBatch(parseBatch(query), policy);
  const { measures, agree } = agreementOf(policy, own.measures);
  const counted = measures.map((measure, k) => countedAs(measure, policy, own.views[k]));
  const former = measures.map((measure, k) => countedWithBounds(measure, policy, own.views[k]));
  const bound = { ...own, measures, agree, counted, former };
  const keysBy = (list: readonly Counted[]) =>
    session.keysOf(JSON.stringify(['counted', sameText(options), list.map(({ of }) => of).sort()]));
  const written = JSON.stringify(['batch', askedText(options), ...identityOf(bound, policy)]);
  const { key } = keysBy(counted);
  const before = keysBy(former);
  // Answers from before the canonical form were recorded under their text, with full paths.
  const keys = {
    key,
    former: [...(before.key === key ? [] : [before.key]), ...before.former, ...session.keysOf(written).former],
  };
  return { bound, key: await keyOnRecord(desk, keys, options.fresh) };
}

/** True if a release of this would be answered from the record. */
export async function isBatchRecorded(session: Session, desk: Desk, query: unknown, options: AskOptions): Promise<boolean> {
  const { key } = await bindFor(session, desk, query, options);
  return !options.fresh && (await desk.ledger.replay(session.policy.population, key)) !== undefined;
}

async function prepare(session: Session, desk: Desk, query: unknown, options: AskOptions): Promise<Prepared> {
  const { policy, account } = session;
  const { bound, key } = await bindFor(session, desk, query, options);
  if (desk.recordedOnly && !(await desk.ledger.replay(policy.population, key))) refuseUnrecorded(desk);
  const label =
    options.label ??
    bound.queries
      .map((q) => q.name ?? q.kind)
      .join(', ')
      .slice(0, 120);
  const standing = await session.standing();
  const records = policy.protect.secret === 'edge' || addsRemoves(policy) ? undefined : await session.records();
  const common = { bound, standing, label, key, ...(records !== undefined && { records }) };
  const open = await unansweredFor(desk, key, options.fresh === true);
  const about = aboutOf(bound.measures);
  for (const was of open ? asBooked(session, open, bound, options, about) : []) {
    const best = was.plans.find(({ profile }) =>
      sameProfile(account.book(profile, { measures: bound.measures }), open!.entry.profile),
    );
    if (best) return { ...common, share: was.share, plans: was.plans, best, completes: open!.entry.sequence };
  }
  const now = plansFor(session, bound, options, standing, about);
  const best = now.best ?? now.plans[0];
  if (!best)
    throw (
      whyNoNoise(bound.measures, account, standing) ??
      new Fault('QUERY_UNSUPPORTED', 'No proven route covers this query.', 'Ask for fewer columns at once.')
    );
  return { ...common, ...now, best };
}

interface PlansFor {
  readonly share: Rational;
  readonly plans: readonly NoisePlan[];
  /** The first plan that would be admitted. */
  readonly best?: NoisePlan;
}

/** Plans with the requested share; with the largest share that fits, where none was requested. */
function plansFor(session: Session, bound: BoundBatch, options: AskOptions, standing: Standing, about: About): PlansFor {
  const { measures } = bound;
  // A quota may admit another noise than the best one.
  const admitted = (p: NoisePlan) => p.fits && (!standing.own || session.admits(p.profile, { measures }, standing));
  const withShare = (share: Rational): PlansFor => {
    const plans = chooseNoise(measures, session.account, share, standing);
    const best = plans.find(admitted);
    return { share, plans, ...(best && { best }) };
  };
  const asked = withShare(session.share(options, standing, about));
  if (asked.best || options.epsilon !== undefined) return asked;
  const less = fittingShare(asked.share, (share) => withShare(share).best !== undefined);
  return less ? withShare(less) : asked;
}

/**
 * Shares that an unanswered entry may have been planned with:
 * its recorded cost shows a share that was reduced by a quota which has changed since.
 */
function* asBooked(
  session: Session,
  { entry, before }: Unanswered,
  bound: BoundBatch,
  options: AskOptions,
  about: About,
): Iterable<PlansFor> {
  const { account } = session;
  const withShare = (share: Rational): PlansFor => ({ share, plans: chooseNoise(bound.measures, account, share, before) });
  yield withShare(session.share(options, before, about));
  if (options.epsilon !== undefined) return;
  yield plansFor(session, bound, options, before, about);
  const alone = spend(nothingSpent, entry.profile);
  const took = subtract(usedShare(account, spend(before, entry.profile), about), usedShare(account, before, about));
  const byReading = usedBy(account, alone).map(({ share }) => share);
  for (const share of [took, ...byReading, ...bookedShares(account, alone, about)]) if (isPositive(share)) yield withShare(share);
}

type Judging = { readonly bound: BoundBatch; readonly records: number | undefined };
/** Expected errors of tables, by the distributions of their noise. */
function errorsOf(session: Session, { bound, records }: Judging, laws: readonly Law[]): Plan['errors'] {
  const foreseen = bound.foresee(laws.map((law) => inDoubles(law)));
  return records === undefined ? foreseen : foreseen.map((error) => judged(error, records, session.policy));
}
/** The same for recorded numbers: the present request may form other tables than the recorded one. */
const foreseenOf = (session: Session, judging: Judging, { measures }: NoisyAnswer): Plan['errors'] =>
  errorsOf(
    session,
    judging,
    measures.map(({ noise }) => lawFromText(noise)),
  );

function describe(session: Session, prepared: Prepared): Plan {
  const { bound, plans, best, share, standing, label, completes, records } = prepared;
  const errors = errorsOf(
    session,
    { bound, records },
    best.mechanisms.map(({ law }) => law),
  );
  const doubts =
    records === undefined
      ? []
      : [mostlyNoise(errors, records, session.policy), looseDelta(session.account.delta, records)].filter((w) => w !== undefined);
  return session.frame({
    label,
    share,
    spent: standing,
    ...(completes !== undefined && { completes }),
    route: best.route,
    mechanisms: best.mechanisms,
    reading: { measures: bound.measures },
    mechanism: kindOfNoise(best),
    why: explainChoice([best, ...plans.filter((p) => p !== best)], session.policy),
    counting: howCounted(
      bound.measures,
      session.policy,
      session.policy.protect.secret === 'person' ? undefined : records,
      session.dialect,
    ),
    errors,
    ...(doubts.length > 0 && { warnings: doubts }),
    candidates: plans.map((p) => ({ mechanism: p.kind, route: p.route.amplifier.name, error: p.error, fits: p.fits })),
  });
}

/** Turns recorded noisy integers into tables; public arithmetic only. */
export function finishBatch(
  bound: BoundBatch & Partial<Pick<Agreement, 'agree'>>,
  answer: NoisyAnswer,
  tidied: boolean,
): readonly AnswerTable[] {
  const laws = answer.measures.map((m) => lawFromText(m.noise));
  const told = answer.measures.map((m) => (m.values ?? []).map(BigInt));
  const raw = bound.agree?.(told) ?? told;
  const finish = (values: readonly (readonly bigint[])[]): readonly AnswerTable[] =>
    bound.finish(
      answer.measures.map((m, k) => {
        const law = inDoubles(laws[k]!);
        return (m.chosen ? { noise: law, chosen: m.chosen } : { noise: law, values: values[k]! }) as NoisyMeasure;
      }),
    );
  const tables = finish(raw);
  if (!tidied) return tables;
  const numbers = raw.map((v) => v.map(Number));
  return withErrorsOf(finish(tidy(bound.measures, numbers, laws.map(varianceOf))), tables);
}
