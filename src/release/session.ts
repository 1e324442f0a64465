import { type Account, gained, type Route, usedShare } from '../accounting/account.js';
import { type About, aboutOf } from '../accounting/by-slice.js';
import { type Guarantee, promiseOf } from '../accounting/guarantee.js';
import { openAccount } from '../accounting/open-account.js';
import { withOthers } from '../accounting/others.js';
import type { Reading } from '../accounting/reading.js';
import { type PartTouched, type RoomToSpend, roomFor } from '../accounting/room-to-spend.js';
import { type Asked, askedText, chooseShare, fittingShare, leftOf, refusalOf, type Standing } from '../accounting/share.js';
import { publicRecords } from '../count/kept-rows.js';
import { rowsBefore, rowsOfSteps, rowsWithoutStep, type Steps } from '../count/public-steps.js';
import type { Dialect } from '../engine/dialect.js';
import { type Engine, type Pinned, pinned } from '../engine/engine.js';
import { once as workedOutOnce } from '../engine/once.js';
import type { EngineSource } from '../engine/source.js';
import { Fault } from '../errors.js';
import { isZero, type Rational, toNumber } from '../exact/rational.js';
import type { Entry, Ledger, Page } from '../ledger/ledger.js';
import { costTogether, type Mechanism } from '../mechanism/mechanism.js';
import type { Paid } from '../mechanism/paid.js';
import { type Profile, type Spent, type StoredProfile, toStored } from '../mechanism/profile.js';
import { columnsIn, everyRecord, type RecordClass } from '../mechanism/record-class.js';
import { addsRemoves } from '../policy/neighbours.js';
import type { Policy } from '../policy/policy.js';
import { openingOf } from '../policy/population.js';
import { reads } from '../terms/source.js';
import { declaredAmplifiers } from '../ties/declared.js';
import { tieKinds } from '../ties/kinds.js';
import { withWayOut } from './amend.js';
import { systemAnalyst } from './analyst.js';
import { isBatchRecorded, planBatch, releaseBatch } from './batch.js';
import { type Charged, charge, type Desk, outcomeOf, type Request } from './charge.js';
import { type Entering, enterSpent } from './enter.js';
import { note, noted } from './note.js';
import { type Outcomes, sayingOutcome } from './outcome.js';
import { partsAsked, steadyWords } from './parts.js';
import { lastOfIt, type Plan, planned } from './plan.js';
import { quotaFor, quotaOf, quotaUse } from './quota.js';
import { refuseUnready } from './ready.js';
import { type Receipt, type Release, receiptOf } from './receipt.js';
import type { Relied } from './relied.js';
import { readingOf, requestKey } from './request-key.js';
import type { Trail } from './trail.js';

export interface SessionParts {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Who pays: the ledger lists them and quotas hang on it. Whoever runs the process when absent. */
  readonly analyst?: string;
  /** What they call themselves; listed, never relied on. */
  readonly as?: string;
  /** Told of everything that is booked. */
  readonly outcomes?: Outcomes;
  /** Asked before anything is booked; throws where whoever pays does not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Told of what a database was asked for each entry, also where that failed. */
  readonly trail?: (trail: Trail) => void;
  /** Told how much of the opening is done where ties are read from the data, of 100. */
  readonly progress?: (done: number, total: number) => void;
}

/** Who pays, and who is asked and told. */
export type Payer = Pick<Desk, 'analyst' | 'as' | 'once' | 'outcomes' | 'decide' | 'trail' | 'recordedOnly'>;

export interface AskOptions extends Asked {
  /** Clamp counts at zero and make totals agree. */
  readonly tidy?: boolean;
  readonly label?: string;
  /** Ask the data as it is now and pay for it, also when an answer to the same request is recorded. */
  readonly fresh?: boolean;
}

/** One steward's policy, one database, one ledger: plan for free, release for budget. */
export async function createSession(parts: SessionParts): Promise<Session> {
  const { policy } = parts;
  refuseUnready(policy);
  const { whole } = parts.engine;
  refuseOtherReading(whole.source, policy);
  const { progress = () => undefined, ...others } = parts;
  const { amplifiers, unused, readsData, id } = await pinned(whole, async (data) => {
    const declared = await declaredAmplifiers(policy, data, tieKinds, (done) => progress(50 * done, 100));
    return { ...declared, ...(declared.readsData && policy.dependence.length > 0 && { id: await data.id() }) };
  });
  const account = openAccount(policy, amplifiers, (done) => readsData && progress(50 + (50 * done) / amplifiers.length, 100));
  return new Session({
    ...others,
    engine: unused ? await whole.without(unused.column, unused.names) : whole,
    account,
    opening: openingOf(policy),
    analyst: parts.analyst ?? systemAnalyst(),
    ...(id !== undefined && { tiesOf: id }),
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

/** Data and ledger of a session: for analyses that need its public size, and for tests. */
export let deskOf: (session: Session) => Desk;

export class Session {
  readonly #desk: Desk;
  readonly #promise: (route: Route) => Guarantee;
  constructor(desk: Desk) {
    this.#desk = desk;
    this.#promise = promiseOf(desk.policy, desk.account);
  }
  static {
    deskOf = (session) => session.#desk;
  }

  /** The same data, account and ledger, for somebody else who pays. */
  of(payer: Payer): Session {
    const { analyst, ...told } = payer;
    const {
      as: _as,
      once: _once,
      outcomes: _outcomes,
      decide: _decide,
      trail: _trail,
      asked: _asked,
      recordedOnly: _recorded,
      ...desk
    } = this.#desk;
    return new Session({ ...desk, ...told, analyst });
  }
  /** The same for one question, whose words are kept with its answer. */
  asking(question: unknown, { epsilon, label }: AskOptions): Session {
    const { once } = this.#desk;
    const asked = {
      question,
      ...(epsilon !== undefined && { epsilon: String(epsilon) }),
      ...(label !== undefined && { label }),
      ...(once !== undefined && { once }),
    };
    return new Session({ ...this.#desk, asked });
  }

  get policy(): Policy {
    return this.#desk.policy;
  }
  get account(): Account {
    return this.#desk.account;
  }

  /** What was spent, with what is set aside for others. */
  async spent(): Promise<Spent> {
    return withOthers(this.account, await this.#desk.ledger.spent(this.policy.population));
  }

  /** What was spent, for whoever is about to spend more: refused where a release would be, whatever it asks. */
  async standing(): Promise<Standing> {
    const { policy, account } = this;
    const desk = this.#desk;
    const { population } = policy;
    const booked = await desk.ledger
      .standing({ population, terms: account.terms, opening: desk.opening })
      .catch(async (error: unknown) => Promise.reject(await withWayOut(error, desk.ledger, policy)));
    const spent = withOthers(account, booked);
    const quota = quotaOf(policy.budget, desk.analyst);
    return quota ? { ...spent, own: { spent: await desk.ledger.spent(population, desk.analyst), quota } } : spent;
  }

  /** Books what another publisher has spent on these people. */
  enter(entering: Entering): Promise<Entry> {
    return enterSpent(this.#desk, entering);
  }

  /** Everything this population has paid for. */
  entries(): Promise<readonly Entry[]> {
    return this.#desk.ledger.entries(this.policy.population);
  }

  /** Some of it. */
  page(page: Page): Promise<readonly Entry[]> {
    return this.#desk.ledger.page(this.policy.population, page);
  }

  /** The latest recorded answer to every request that was paid for, oldest first. */
  async recorded(): Promise<readonly { readonly entry: Entry; readonly answer: string }[]> {
    const { ledger, policy } = this.#desk;
    const keys = new Set((await this.entries()).filter(({ settled }) => settled).map(({ key }) => key));
    const found: { entry: Entry; answer: string }[] = [];
    for (const key of keys) {
      const answer = await ledger.replay(policy.population, key);
      if (answer) found.push(answer);
    }
    return found.sort((a, b) => a.entry.sequence - b.entry.sequence);
  }

  /** One of its entries, with its recorded answer where there is one. */
  entry(sequence: number): ReturnType<Ledger['entry']> {
    return this.#desk.ledger.entry(this.policy.population, sequence);
  }

  /** Two requests with one key are the same request. */
  keyOf(canonical: string): string {
    const { once } = this.#desk;
    return requestKey(this.policy, once === undefined ? canonical : JSON.stringify(['once', once, canonical]));
  }

  /** Pays for and runs one request; analysis and patterns are made of these. */
  charge<T>({ canonical, ...request }: AskedFor<T>): Promise<Charged<T>> {
    return charge(this.#desk, { ...request, key: this.keyOf(canonical) });
  }

  /** Notes something that is no secret with the ledger, for nothing, and gives back the latest that was noted under a key. */
  note(key: string, label: string, text: string): Promise<void> {
    return note(this.#desk, key, label, text);
  }
  noted(key: string): Promise<string | undefined> {
    return noted(this.#desk, key);
  }

  /** Cost, scale, error bars and remaining budget of queries; spends nothing and reads no private value. */
  plan(query: unknown, options: AskOptions = {}): Promise<Plan> {
    return planBatch(this, this.#desk, query, options);
  }

  release(query: unknown, options: AskOptions = {}): Promise<Release> {
    return releaseBatch(this, this.#desk, query, options);
  }

  /** Whether it is on record, so that a release reads no data. */
  isRecorded(query: unknown, options: AskOptions = {}): Promise<boolean> {
    return isBatchRecorded(this, this.#desk, query, options);
  }

  /** The share of the whole budget that a request may use. */
  share(options: AskOptions, standing: Standing, about?: About): Rational {
    return chooseShare(this.account, options, standing, about);
  }

  readonly #known: { records?: Promise<number> } = {};
  /** How many records there are, which is public. */
  records(): Promise<number> {
    const { engine, policy } = this.#desk;
    return workedOutOnce(this.#known, 'records', () => pinned(engine, (data) => publicRecords(data, policy)));
  }

  /** The words of the database, by which it is foreseen what is left to it. */
  get dialect(): Dialect {
    return this.#desk.engine.dialect;
  }

  /** Bytes that rows and ties which are held may take. */
  get room(): number {
    return this.#desk.engine.room;
  }

  /** What the columns of the data, or of a table beside it, are called. */
  async sourceColumns(table?: string): Promise<readonly string[]> {
    return (await pinned(this.#desk.engine, (data) => data.columns(table))).map(({ name }) => name);
  }

  /** What a public column tells of the steps in it: how many rows each has, how many stand at none, how many come before another column's. */
  rowsOfSteps(steps: Steps): Promise<Float64Array> {
    return pinned(this.#desk.engine, (data) => rowsOfSteps(data, this.policy, steps));
  }
  /** The same for as long as the data is: where nothing else tells, by its content. */
  moment(): Promise<object | string> {
    return pinned(this.#desk.engine, async (data) => data.moment ?? data.id());
  }
  rowsWithoutStep(steps: Steps): Promise<number> {
    return pinned(this.#desk.engine, (data) => rowsWithoutStep(data, this.policy, steps));
  }
  rowsBefore(column: string, other: string): Promise<number> {
    return pinned(this.#desk.engine, (data) => rowsBefore(data, this.policy, column, other));
  }

  /** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
  frame(own: OwnPlan): Plan {
    const { account } = this;
    const { share, spent, route, mechanisms, reading, ...rest } = own;
    const total = toNumber(account.epsilon);
    const used = toNumber(usedShare(account, spent)) * total;
    // Rows are cut for every release that reads rows, whichever route proves it.
    const leftOut = reading.beyond ? undefined : account.routes.map((r) => r.amplifier.leftOut).find((l) => l !== undefined);
    // What was booked already needs no more room.
    const quota = quotaFor(this.#desk);
    const cost = costTogether(mechanisms);
    const free = mechanisms.length > 0 && cost.perRecord.size === 0;
    const refusal = own.completes === undefined ? refusalOf(account, quota, spent, cost, reading) : undefined;
    const about = aboutOf(reading.measures ?? []);
    const parts = partsAsked(this.policy, account, spent, about);
    const last =
      own.completes === undefined && !refusal && !free
        ? lastOfIt(share, leftOf(account, spent, about), account.epsilon, parts)
        : undefined;
    const warnings = [...(own.warnings ?? []), ...(last === undefined ? [] : [last])];
    return {
      ...rest,
      measures: mechanisms.map((mechanism, k) => planned(mechanism, reading.measures?.[k])),
      fits: refusal === undefined,
      ...(refusal && { refusal: refusal.message }),
      ...(warnings.length > 0 && { warnings }),
      ...(spent.own && { quota: quotaUse(account, quota!, spent.own.spent) }),
      epsilon: free ? 0 : toNumber(share) * total,
      budget: { total, spent: used, remaining: Math.max(0, total - used), delta: toNumber(account.delta) },
      ...(parts.length > 0 && { parts }),
      ...(account.steady && { steady: steadyWords(this.policy, account.steady) }),
      route: route.how,
      whatIf: isZero(route.pureCapacity) || addsRemoves(this.policy) ? [] : route.amplifier.whatIf(route.pureCapacity),
      ...(leftOut && { records: { used: leftOut.used, leftOut: leftOut.unused } }),
      guarantee: this.#promise(route),
    };
  }

  /** Would the ledger take this on top of what was spent? */
  admits(profile: Profile, reading: Reading, standing: Standing): boolean {
    return refusalOf(this.account, quotaFor(this.#desk), standing, profile, reading) === undefined;
  }

  /**
   * What a request that touches every record of a class may spend, per proven route: pure base epsilon, and rho when delta allows it. What it
   * reads decides which routes speak about it.
   */
  async allowance(
    options: AskOptions,
    record: RecordClass = everyRecord,
    reading: Reading = {},
    standing?: Standing,
    part?: PartTouched,
  ): Promise<Allowance> {
    if (addsRemoves(this.policy) && !reading.comesAndGoes)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        'This analysis is proven for records that are replaced; this policy adds and removes them.',
        'Ask counts, sums, means, shares, histograms, cross tables or quantiles, or leave protect.neighbours out.',
      );
    if (this.policy.known && !reading.together)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        'This analysis is proven for one record that is replaced; beside known totals several change at once.',
        'Ask counts, sums, means, shares, histograms, cross tables, quantiles or workloads, or leave known out.',
      );
    const spent = standing ?? (await this.standing());
    const quota = quotaFor(this.#desk);
    const roomWith = (share: Rational) => roomFor(this.account, { spent, share, record, reading, quota, ...(part && { part }) });
    const asked = this.share(
      options,
      spent,
      part && new Map(columnsIn(part.slicing).map((column, k) => [column, part.values[k]!])),
    );
    const fitting =
      options.epsilon === undefined && !roomWith(asked).admitted
        ? fittingShare(asked, (share) => roomWith(share).admitted)
        : undefined;
    const share = fitting ?? asked;
    return {
      share,
      asked: askedText(options),
      fresh: options.fresh === true,
      spent,
      reading,
      ...roomWith(share),
    };
  }

  /** Pays for and runs an analysis whose whole cost is one profile; asked again, the recorded result is told. */
  async analyse<T>(request: Analysis<T>): Promise<{ readonly result: T; readonly receipt: Receipt }> {
    const { asked, fresh, reading } = request.allowance;
    const { answer, ...paid } = await this.charge<{ plan: Plan; profile: StoredProfile; result: T }>({
      canonical: JSON.stringify([request.kind, asked, request.canonical, readingOf(this.policy)]),
      label: request.plan.label,
      mechanisms: request.mechanisms,
      plan: request.plan,
      reading,
      ...(request.relied && { relied: request.relied }),
      ...(fresh && { fresh: true }),
      ...(request.still && { still: request.still }),
      execute: async (engine, paid) => ({
        plan: request.plan,
        profile: toStored(costTogether(request.mechanisms)),
        result: await request.execute(engine, paid),
      }),
    });
    return sayingOutcome(outcomeOf(paid), () => ({
      result: answer.result,
      receipt: receiptOf({ policy: this.policy, plan: answer.plan, profile: answer.profile, ...paid }),
    }));
  }

  /** What an attacker may have gained so far about one record, ties included; where records are added and removed, about its presence. */
  async gained(): Promise<number> {
    return gained(this.account, await this.spent());
  }
}

export type OwnPlan = Omit<
  Plan,
  | 'measures'
  | 'epsilon'
  | 'budget'
  | 'parts'
  | 'steady'
  | 'quota'
  | 'fits'
  | 'refusal'
  | 'waysOut'
  | 'route'
  | 'whatIf'
  | 'records'
  | 'guarantee'
> & {
  readonly share: Rational;
  readonly spent: Standing;
  readonly route: Route;
  /** What would be drawn: what it costs, whether it fits and what is told of it follow. */
  readonly mechanisms: readonly Mechanism[];
  readonly reading: Reading;
};

export interface Allowance extends RoomToSpend {
  readonly share: Rational;
  readonly asked: string;
  readonly fresh: boolean;
  readonly spent: Standing;
  readonly reading: Reading;
}
/** What a plan tells of the room that it was given. */
export const toldOf = ({ share, spent, route, reading }: Allowance) => ({ share, spent, route, reading });

export type AskedFor<T> = Omit<Request<T>, 'key'> & {
  /** Canonical text of what is asked and with how much budget; two requests with one text are the same request. */
  readonly canonical: string;
};

export interface Analysis<T> {
  readonly kind: string;
  readonly allowance: Allowance;
  /** Canonical text of the parameters. */
  readonly canonical: string;
  readonly plan: Plan;
  readonly mechanisms: readonly Mechanism[];
  readonly relied?: readonly Relied[];
  /** Of the data that will be read, before anything is booked (charge.ts). */
  readonly still?: (data: Pinned) => Promise<void>;
  readonly execute: (engine: Pinned, paid: Paid) => Promise<T>;
}
