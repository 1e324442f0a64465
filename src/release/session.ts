import {
  type Account,
  admission,
  gained,
  isPlain,
  openAccount,
  type Route,
  spentUnder,
  usedShare,
} from '../calibration/account.js';
import { chooseNoise, type NoisePlan, pureInside } from '../calibration/choose.js';
import { guarantee } from '../calibration/guarantee.js';
import { lawOf } from '../calibration/noise.js';
import { meets, type Reading } from '../calibration/reading.js';
import { declaredAmplifiers } from '../dependence/declared.js';
import {
  everyRecord,
  type Profile,
  type RecordClass,
  type Spent,
  type StoredProfile,
  spend,
  toStored,
} from '../dependence/profile.js';
import type { Engine } from '../engine/engine.js';
import { type EngineSource, reads } from '../engine/source.js';
import { Fault } from '../errors.js';
import {
  compare,
  divide,
  isPositive,
  isZero,
  multiply,
  one,
  parseRational,
  type Rational,
  rational,
  subtract,
  toNumber,
  zero,
} from '../exact/rational.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import { openingOf } from '../policy/population.js';
import { bindBatch } from '../query/bind.js';
import type { BoundBatch } from '../query/bound.js';
import { columnsOf } from '../query/effects.js';
import { canonical, parseBatch } from '../query/parse.js';
import type { Batch } from '../query/query.js';
import { textOf } from '../query/scope.js';
import { answerBatch, finishBatch, type NoisyAnswer } from './answer.js';
import { type Charged, charge, type Desk, type Request } from './charge.js';
import { explainChoice, type Plan, planMeasure } from './plan.js';
import { type Receipt, type Release, receiptOf } from './receipt.js';
import { type Relied, reliedOn } from './relied.js';
import { readingOf } from './request-key.js';

export interface SessionParts {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Who asks; the ledger lists it. */
  readonly analyst?: string;
}

export interface AskOptions {
  /** How much of the policy's epsilon to use; a tenth of it when absent. */
  readonly epsilon?: string;
  /** Use everything that remains (surveys). */
  readonly all?: boolean;
  /** Clamp counts at zero and make totals agree. */
  readonly tidy?: boolean;
  readonly label?: string;
  /** Ask the data as it is now and pay for it, also when an answer to the same request is recorded. */
  readonly fresh?: boolean;
}

/** One steward's policy, one database, one ledger: plan for free, release for budget. */
export async function createSession(parts: SessionParts): Promise<Session> {
  const { policy } = parts;
  if (policy.unconfirmed.length > 0)
    throw new Fault(
      'POLICY_UNCONFIRMED',
      `${policy.unconfirmed.length} column${policy.unconfirmed.length === 1 ? ' has' : 's have'} a domain or bounds that were read from the data and not confirmed.`,
      `Look at them with "fugu confirm ${policy.file}", then accept them with "fugu confirm ${policy.file} --all".`,
    );
  const { whole } = parts.engine;
  refuseOtherReading(whole.source, policy);
  const before = policy.dependence.length > 0 ? await whole.snapshot() : undefined;
  const { amplifiers, unused, readsData } = await declaredAmplifiers(policy, whole);
  const account = openAccount(policy, amplifiers);
  return new Session({
    ...parts,
    engine: unused ? await whole.without(unused.column, unused.names) : whole,
    account,
    analyst: parts.analyst ?? 'local',
    ...(readsData && before !== undefined && { tiesOf: before }),
  });
}

/** Text that was forgotten, or a relation read in another way, would make other records and other effects than this policy declares. */
function refuseOtherReading(opened: EngineSource, policy: Policy): void {
  if (!reads(opened, policy))
    throw new Fault(
      'ENGINE_FAILED',
      'The data was opened for another policy, which reads it otherwise.',
      'Open the data again for this policy.',
    );
}

export class Session {
  readonly desk: Desk;
  constructor(desk: Desk) {
    this.desk = desk;
  }

  get policy(): Policy {
    return this.desk.policy;
  }
  get account(): Account {
    return this.desk.account;
  }

  spent(): Promise<Spent> {
    return this.desk.ledger.spent(this.policy.population);
  }

  /** What was spent, for whoever is about to spend more: refused where a release would be, whatever it asks. */
  async standing(): Promise<Spent> {
    const { policy, account, desk } = this;
    return desk.ledger.standing({ population: policy.population, terms: account.terms, opening: await openingOf(policy) });
  }

  /** Pays for and runs one request; analysis and patterns are made of these. */
  charge<T>(request: Request<T>): Promise<Charged<T>> {
    return charge(this.desk, request);
  }

  /** Cost, scale, error bars and remaining budget; spends nothing and reads no private value. */
  async plan(query: unknown, options: AskOptions = {}): Promise<Plan> {
    const prepared = await this.prepare(query, options);
    return this.describe(prepared);
  }

  async release(query: unknown, options: AskOptions = {}): Promise<Release> {
    const prepared = await this.prepare(query, options);
    const { bound, best, asked } = prepared;
    const plan = this.describe(prepared);
    const { answer, ...paid } = await this.charge<Recorded>({
      canonical: JSON.stringify(['batch', asked, canonical({ queries: bound.queries }), meaning(bound, this.policy)]),
      label: plan.label,
      profile: best.profile,
      reading: { measures: bound.measures },
      relied: reliedOn(bound.measures, this.policy),
      ...(options.fresh && { fresh: true }),
      execute: async (engine) => ({
        plan,
        profile: toStored(best.profile),
        noisy: await answerBatch(engine, this.policy, bound, best.noise),
      }),
    });
    // A replayed answer is told with the plan it was made under, not with today's.
    const tables = finishBatch(bound, answer.noisy, options.tidy === true);
    return { tables, receipt: receiptOf({ policy: this.policy, plan: answer.plan, profile: answer.profile, ...paid }) };
  }

  /**
   * The share of the whole budget that a request may use: asked for, or a tenth, or all that is left. What rounding left over is not handed out
   * unasked: the answer would be nothing but noise, so the full share is asked for and refused.
   */
  share(options: AskOptions, spent: Spent): Rational {
    const left = subtract(one, usedShare(this.account, spent));
    const remaining = compare(left, crumbs) < 0 ? zero : left;
    if (options.epsilon !== undefined) {
      const epsilon = parseRational(options.epsilon, 'epsilon');
      if (!isPositive(epsilon))
        throw new Fault(
          'BUDGET_INVALID',
          'The epsilon to spend must be above zero.',
          'Ask for a positive part of the budget, for example --epsilon 0.1.',
        );
      return divide(epsilon, this.account.epsilon);
    }
    if (options.all) return isPositive(remaining) ? remaining : one;
    return compare(remaining, rational(1, 10)) < 0 && isPositive(remaining) ? remaining : rational(1, 10);
  }

  private async prepare(query: unknown, options: AskOptions): Promise<Prepared> {
    const batch: Batch = parseBatch(query);
    const bound = bindBatch(batch, this.policy);
    const spent = await this.standing();
    const share = this.share(options, spent);
    const plans = chooseNoise(bound.measures, this.account, share, spent);
    const best = plans[0];
    if (!best) throw new Fault('QUERY_UNSUPPORTED', 'No proven route covers this query.', 'Ask for fewer columns at once.');
    const label =
      options.label ??
      bound.queries
        .map((q) => q.name ?? q.kind)
        .join(', ')
        .slice(0, 120);
    return { bound, plans, best, share, spent, label, asked: askedText(options) };
  }

  private describe({ bound, plans, best, share, spent, label }: Prepared): Plan {
    return this.frame({
      label,
      share,
      spent,
      route: best.route,
      profile: best.profile,
      reading: { measures: bound.measures },
      mechanism: best.kind,
      why: explainChoice(plans),
      measures: bound.measures.map((m, k) => planMeasure(m, best.noise[k]!)),
      errors: bound.foresee(best.noise.map(lawOf)),
      candidates: plans.map((p) => ({ mechanism: p.kind, route: p.route.amplifier.name, error: p.error, fits: p.fits })),
    });
  }

  /** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
  frame(own: OwnPlan): Plan {
    const { account, policy } = this;
    const { share, spent, route, profile, reading, ...rest } = own;
    const total = toNumber(account.epsilon);
    const used = toNumber(usedShare(account, spent)) * total;
    // Rows are cut for every release that reads rows, whichever route proves it.
    const leftOut = reading.beyond ? undefined : account.routes.map((r) => r.amplifier.leftOut).find((l) => l !== undefined);
    return {
      ...rest,
      fits: this.admits(profile, reading, spent),
      epsilon: toNumber(share) * total,
      budget: { total, spent: used, remaining: Math.max(0, total - used), delta: toNumber(account.delta) },
      route: route.how,
      whatIf: isZero(route.pureCapacity) ? [] : route.amplifier.whatIf(route.pureCapacity),
      ...(leftOut && { records: { used: leftOut.used, leftOut: leftOut.unused } }),
      guarantee: guarantee(policy, account, route),
    };
  }

  /** Would the ledger take this on top of what was spent? By the very test a reservation has to pass. */
  admits(profile: Profile, reading: Reading, spent: Spent): boolean {
    try {
      admission(this.account)(spend(spent, this.account.book(profile, reading)), spent);
      return true;
    } catch (error) {
      if (error instanceof Fault && error.code === 'BUDGET_EXCEEDED') return false;
      throw error;
    }
  }

  /**
   * What a request that touches every record of a class may spend, per proven route: pure base epsilon, and rho when delta allows it. What it
   * reads decides which routes speak about it.
   */
  async allowance(options: AskOptions, record: RecordClass = everyRecord, reading: Reading = {}): Promise<Allowance> {
    const spent = await this.standing();
    const share = this.share(options, spent);
    const speaking = this.account.routes.filter(
      (r) =>
        r.amplifier.scope(record) &&
        !r.amplifier.factoredOnly &&
        r.conditions.every((c) => meets(c, 'zcdp', reading)) &&
        spentUnder(r, spent) !== undefined,
    );
    // The first amplifier that speaks about it, by whichever of its routes allows most Gaussian noise.
    const room = (r: Route) => r.gaussian?.capacity ?? zero;
    const route = speaking
      .filter((r) => r.amplifier === speaking[0]?.amplifier)
      .reduce<Route | undefined>((best, r) => (best && compare(room(best), room(r)) >= 0 ? best : r), undefined);
    if (!route)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        'No proven route covers this kind of release under this policy.',
        'Check protect: and dependence: in the policy.',
      );
    const onlyPure = spent.zcdp.perRecord.size === 0;
    const rho = route.gaussian && multiply(route.gaussian.capacity, share);
    const pure = onlyPure ? multiply(route.pureCapacity, share) : rho && isPlain(route) ? pureInside(rho) : undefined;
    return {
      share,
      asked: askedText(options),
      fresh: options.fresh === true,
      spent,
      route,
      reading,
      ...(pure && isPositive(pure) && { pure }),
      ...(rho && isPositive(rho) && { rho }),
    };
  }

  /** Pays for and runs an analysis whose whole cost is one profile; asked again, the recorded result is told. */
  async analyse<T>(request: Analysis<T>): Promise<{ readonly result: T; readonly receipt: Receipt }> {
    const { asked, fresh, reading } = request.allowance;
    const { answer, ...paid } = await this.charge<{ plan: Plan; profile: StoredProfile; result: T }>({
      canonical: JSON.stringify([request.kind, asked, request.canonical, readingOf(this.policy)]),
      label: request.plan.label,
      profile: request.profile,
      reading,
      ...(request.relied && { relied: request.relied }),
      ...(fresh && { fresh: true }),
      execute: async (engine) => ({
        plan: request.plan,
        profile: toStored(request.profile),
        result: await request.execute(engine),
      }),
    });
    return {
      result: answer.result,
      receipt: receiptOf({ policy: this.policy, plan: answer.plan, profile: answer.profile, ...paid }),
    };
  }

  /** What an attacker may have gained so far about one record, ties included. */
  async gained(): Promise<number> {
    return gained(this.account, await this.spent());
  }
}

/** What the queries count under this policy: an answer is no answer any more once a domain, a missing code or a support has changed. */
const meaning = ({ measures }: BoundBatch, policy: Policy): string =>
  textOf(measures.map(({ counting }) => [counting, columnsOf(counting).map((name) => policy.columns.get(name))]));

/** A part of the budget too small to be worth an answer. */
const crumbs = rational(1, 1_000);
/** How much was asked for, in words that stay the same while the budget shrinks. */
export const askedText = (options: AskOptions): string => options.epsilon ?? (options.all ? 'all' : 'tenth');

export type OwnPlan = Omit<Plan, 'epsilon' | 'budget' | 'fits' | 'route' | 'whatIf' | 'records' | 'guarantee'> & {
  readonly share: Rational;
  readonly spent: Spent;
  readonly route: Route;
  /** What would be booked; whether it fits follows from it. */
  readonly profile: Profile;
  readonly reading: Reading;
};

export interface Allowance {
  readonly share: Rational;
  readonly asked: string;
  readonly fresh: boolean;
  readonly spent: Spent;
  readonly route: Route;
  readonly reading: Reading;
  /** Base epsilon one record may spend on pure noise. */
  readonly pure?: Rational;
  /** rho one record may spend on Gaussian noise. */
  readonly rho?: Rational;
}

export interface Analysis<T> {
  readonly kind: string;
  readonly allowance: Allowance;
  /** Canonical text of the parameters. */
  readonly canonical: string;
  readonly plan: Plan;
  readonly profile: Profile;
  readonly relied?: readonly Relied[];
  readonly execute: (engine: Engine) => Promise<T>;
}

/** What the ledger keeps for replay. */
interface Recorded {
  readonly plan: Plan;
  readonly profile: StoredProfile;
  readonly noisy: NoisyAnswer;
}

interface Prepared {
  readonly bound: BoundBatch;
  readonly plans: readonly NoisePlan[];
  readonly best: NoisePlan;
  readonly share: Rational;
  readonly spent: Spent;
  readonly label: string;
  readonly asked: string;
}
