import type { Rational } from '../../base/exact/rational.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { Engine } from '../../data/engine/engine.js';
import { once as workedOutOnce } from '../../data/engine/once.js';
import type { Policy } from '../../policy/policy.js';
import { openingOf } from '../../policy/population.js';
import type { Profile, Spent } from '../../privacy/mechanism/profile.js';
import { everyRecord, type RecordClass } from '../../privacy/mechanism/record-class.js';
import type { StepRows, StepRowsAsked } from '../../query/count/public-steps.js';
import { type Account, gained, type Route } from '../accountant/account.js';
import type { About } from '../accountant/by-slice.js';
import { type Guarantee, promiseOf } from '../accountant/guarantee.js';
import { openAccount } from '../accountant/open-account.js';
import { withOthers } from '../accountant/others.js';
import type { Reading } from '../accountant/reading.js';
import type { PartTouched } from '../accountant/room-to-spend.js';
import { type Asked, chooseShare, refusalOf, type Standing } from '../accountant/share.js';
import type { Entry, Ledger, Page } from '../ledger/ledger.js';
import { type Allowance, allowanceOf, refuseUnproven } from './allowance.js';
import { withWayOut } from './amend.js';
import { type Analysis, type AskedFor, paidAnalysis } from './analysis.js';
import { systemAnalyst } from './analyst.js';
import { isBatchRecorded, planBatch, releaseBatch } from './batch.js';
import { type Charged, charge, type Desk } from './charge.js';
import { type ClaimOptions, DataClaims, openingFor } from './data-claims.js';
import { type Entering, enterSpent } from './enter.js';
import { framed, type OwnPlan } from './frame.js';
import { type Note, note, noted, refuseReadOtherwise } from './note.js';
import type { Outcomes } from './outcome.js';
import type { Plan } from './plan.js';
import { type Given, lookInto, type PublicRead, publicReads, readPublic } from './public-read.js';
import { quotaFor, quotaOf } from './quota.js';
import { refuseOtherReading, refuseUnready } from './ready.js';
import type { Receipt, Release } from './receipt.js';
import { type RequestKeys, requestKeys } from './request-key.js';
import type { Trail } from './trail.js';

export interface SessionParts {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Payer: listed in the ledger, and quotas depend on it. The user of the process when absent. */
  readonly analyst?: string;
  /** Name that the analyst goes by; listed, never relied on. */
  readonly as?: string;
  /** Receives the outcome of every reservation. */
  readonly outcomes?: Outcomes;
  /** Called before anything is reserved; throws where the payer does not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Receives the queries sent to a database for each entry, also after a failure. */
  readonly trail?: (trail: Trail) => void;
  /** Receives the progress of opening, in percent, where ties are read from the data. */
  readonly progress?: (done: number, total: number) => void;
  /** Recognition of data that already has a budget. */
  readonly claims?: ClaimOptions;
}

/** The payer, and the callbacks of one release. */
export type Payer = Pick<Desk, 'analyst' | 'as' | 'once' | 'outcomes' | 'decide' | 'trail' | 'recordedOnly' | 'replaying'>;

export interface AskOptions extends Asked {
  /** Clamp counts at zero and make totals agree. */
  readonly tidy?: boolean;
  readonly label?: string;
  /** Sentences about what is computed instead of the request. Not part of the request key. */
  readonly instead?: readonly string[];
  /** Read the data as it is now and pay for it, even if an answer to the same request is recorded. */
  readonly fresh?: boolean;
}

/** One steward's policy, one database, one ledger: plan for free, release for budget. */
export async function createSession(parts: SessionParts): Promise<Session> {
  const { policy } = parts;
  refuseUnready(policy);
  const { whole } = parts.engine;
  refuseOtherReading(whole.source, policy);
  const { progress, claims, ...others } = parts;
  const { account, unused, id } = await accountOnData(policy, whole, progress);
  const desk: Desk = {
    ...others,
    engine: unused ? await whole.without(unused.column, unused.names) : whole,
    account,
    opening: openingOf(policy),
    claims: new DataClaims(policy, parts.ledger, claims),
    analyst: parts.analyst ?? systemAnalyst(),
    ...(id !== undefined && { tiesOf: id }),
  };
  await refuseReadOtherwise(desk);
  return new Session(desk);
}

/**
 * Account of a policy on its data: reads every declared file and tie, spends nothing.
 * Throws the fault that every release would meet.
 */
export async function accountOnData(policy: Policy, engine: Engine, progress: Progress = () => undefined) {
  const { amplifiers, unused, readsData, id } = await lookInto(engine, policy, async (look) => {
    const declared = await look(publicReads.ties, { progress: (done) => progress(50 * done, 100) });
    return { ...declared, ...(declared.readsData && policy.dependence.length > 0 && { id: await look(publicReads.content) }) };
  });
  const account = openAccount(policy, amplifiers, (done) => readsData && progress(50 + (50 * done) / amplifiers.length, 100));
  return { account, ...(unused && { unused }), ...(id !== undefined && { id }) };
}
type Progress = NonNullable<SessionParts['progress']>;

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

  /** The same data, account and ledger, for another payer. */
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
      replaying: _replaying,
      ...desk
    } = this.#desk;
    return new Session({ ...desk, ...told, analyst });
  }
  /** The same for a reader of recorded answers, who cannot pay. */
  reader(replaying: NonNullable<Desk['replaying']>): Session {
    const { once, analyst } = this.#desk;
    return this.of({ analyst, recordedOnly: true, replaying, ...(once !== undefined && { once }) });
  }
  /** The same for one question, whose text is kept with its answer. */
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

  /** Spent costs, including those set aside for other publishers. */
  async spent(): Promise<Spent> {
    return withOthers(this.account, await this.#desk.ledger.spent(this.policy.population));
  }

  /** Spent costs before a further request: throws where every release would be refused. */
  async standing(): Promise<Standing> {
    const { policy, account } = this;
    const desk = this.#desk;
    const { population } = policy;
    const { claim: _claim, ...opening } = await openingFor(desk);
    const booked = await desk.ledger
      .standing({ population, terms: account.terms, ...opening })
      .catch(async (error: unknown) => Promise.reject(await withWayOut(error, desk.ledger, { policy, account })));
    const spent = withOthers(account, booked);
    const quota = quotaOf(policy.budget, desk.analyst);
    return quota ? { ...spent, own: { spent: await desk.ledger.spent(population, desk.analyst), quota } } : spent;
  }

  /**
   * Claims the data for this account before the first request, so that the person who sets up a service meets a refusal,
   * not the first analyst.
   */
  async claimAhead(): Promise<void> {
    await this.#desk.claims?.claimAhead();
  }

  /** Records the cost of another publisher's releases about these people. */
  enter(entering: Entering): Promise<Entry> {
    return enterSpent(this.#desk, entering);
  }

  /** Everything this population has paid for. */
  entries(): Promise<readonly Entry[]> {
    return this.#desk.ledger.entries(this.policy.population);
  }

  /** A page of them. */
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

  /** True if the account has entries: without any, no answer is on record. */
  async hasEntries(): Promise<boolean> {
    return (await this.page({ after: 0, most: 1 })).length > 0;
  }

  /** One of its entries, with its recorded answer where there is one. */
  entry(sequence: number): ReturnType<Ledger['entry']> {
    return this.#desk.ledger.entry(this.policy.population, sequence);
  }

  /** Two requests with one key are the same request. */
  keysOf(canonical: string): RequestKeys {
    const { once } = this.#desk;
    return requestKeys(this.policy, once === undefined ? canonical : JSON.stringify(['once', once, canonical]));
  }

  /** Pays for and runs one request; analyses and patterns are built on it. */
  charge<T>({ canonical, ...request }: AskedFor<T>): Promise<Charged<T>> {
    return charge(this.#desk, { ...request, ...this.keysOf(canonical) });
  }

  /** Writes a public note to the ledger, at no cost, and returns the latest one under that key. */
  note(noting: Note): Promise<void> {
    return note(this.#desk, noting);
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

  /** True if the answer is on record, so that a release reads no data. */
  isRecorded(query: unknown, options: AskOptions = {}): Promise<boolean> {
    return isBatchRecorded(this, this.#desk, query, options);
  }

  /** The share of the whole budget that a request may use. */
  share(options: AskOptions, standing: Standing, about?: About): Rational {
    return chooseShare(this.account, options, standing, about);
  }

  readonly #known: { records?: Promise<number> } = {};
  /** Number of records, which is public. */
  records(): Promise<number> {
    return workedOutOnce(this.#known, 'records', () => this.read(publicReads.records));
  }

  /** SQL dialect of the engine: plans predict from it the part of the work that is left to the database. */
  get dialect(): Dialect {
    return this.#desk.engine.dialect;
  }

  /** Memory limit in bytes for rows and ties. */
  get room(): number {
    return this.#desk.engine.room;
  }

  /** Column names of the data, or of another table. */
  async sourceColumns(table?: string): Promise<readonly string[]> {
    return (await this.read(publicReads.columns, table)).map(({ name }) => name);
  }

  /**
   * A registered fact about the data that is public under this policy; refused where it is not,
   * and noted in the ledger where later terms could make it secret.
   */
  read<Asked, Result>(read: PublicRead<Asked, Result>, ...asked: Given<Asked>): Promise<Result> {
    return readPublic(this.#desk, read, ...asked);
  }

  /** Rows of each step by public columns. */
  stepRows(asked: StepRowsAsked): Promise<StepRows> {
    return this.read(publicReads.stepRows, asked);
  }
  /** Stays the same as long as the data does; a digest of the content where there is no cheaper sign. */
  moment(): Promise<object | string> {
    return this.read(publicReads.moment);
  }

  /** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
  frame(own: OwnPlan): Plan {
    return framed(this.#desk, this.#promise, own);
  }

  /** True if the ledger would admit this in addition to earlier costs. */
  admits(profile: Profile, reading: Reading, standing: Standing): boolean {
    return refusalOf(this.account, quotaFor(this.#desk), standing, profile, reading) === undefined;
  }

  /** Allowance of a request that depends on every record of a class (allowance.ts). */
  async allowance(
    options: AskOptions,
    record: RecordClass = everyRecord,
    reading: Reading = {},
    standing?: Standing,
    part?: PartTouched,
  ): Promise<Allowance> {
    refuseUnproven(this.policy, reading);
    const spent = standing ?? (await this.standing());
    return allowanceOf(this.#desk, options, { spent, record, reading, ...(part && { part }) });
  }

  /** Pays for and runs an analysis whose whole cost is known in advance; a repeated request returns the recorded result. */
  analyse<T>(request: Analysis<T>): Promise<{ readonly result: T; readonly receipt: Receipt }> {
    return paidAnalysis({ policy: this.policy, charge: (asked) => this.charge(asked), replaying: this.#desk.replaying }, request);
  }

  /** Upper bound on the privacy loss of one record so far, ties included; under add-remove, about its presence. */
  async gained(): Promise<number> {
    return gained(this.account, await this.spent());
  }
}
