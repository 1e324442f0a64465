import type { Rational } from '../../base/exact/rational.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { Engine } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import { accountOpening } from '../../policy/population.js';
import type { PrivacyCost, SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, type RecordClass } from '../../privacy/mechanism/record-class.js';
import type { StepRows, StepRowsRequest } from '../../query/count/public-steps.js';
import type { Account, LeakageRoute } from '../accountant/account.js';
import { privacyLossBound } from '../accountant/budget-state.js';
import type { SliceSelection } from '../accountant/by-slice.js';
import { type Guarantee, guaranteeFor } from '../accountant/guarantee.js';
import { openAccount } from '../accountant/open-account.js';
import { withOthers } from '../accountant/others.js';
import type { RequestReading } from '../accountant/request-reading.js';
import { type AccountBalance, chooseShare, refusalOf, type SpendOptions } from '../accountant/share.js';
import type { EntryRange, Ledger, SpendEntry } from '../ledger/ledger.js';
import { type Allowance, allowanceOf, refuseUnproven, type TouchedRecords } from './allowance.js';
import { withWayOut } from './amend.js';
import { type Analysis, type CanonicalRequest, runAnalysis } from './analysis.js';
import { systemAnalyst } from './analyst.js';
import { isBatchRecorded, planBatch, releaseBatch } from './batch.js';
import { charge } from './charge.js';
import { completePlan, type PlanInput } from './complete-plan.js';
import { type ClaimOptions, DataClaims, openingFor } from './data-claims.js';
import { enterForeignSpending, type ForeignSpending } from './foreign-spending.js';
import { type Note, note, noted, refuseChangedReadings } from './note.js';
import type { OutcomeLog } from './outcome.js';
import type { Plan } from './plan.js';
import { type PublicRead, publicReads, type ReadArguments, readPublic, withPublicReader } from './public-read.js';
import type { QueryLog } from './query-log.js';
import { quotaFor, quotaOf } from './quota.js';
import { refuseDataOfAnotherPolicy, refuseUnready } from './ready.js';
import { type Receipt, type ReceiptParts, type Release, receiptsFor } from './receipt.js';
import type { ChargeResult, ReleaseContext } from './release-context.js';
import { type RequestKeys, requestKeys } from './request-key.js';

export interface SessionParts {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Payer: listed in the ledger, and quotas depend on it. The user of the process when absent. */
  readonly analyst?: string;
  /** Name that the analyst goes by; listed, never relied on. */
  readonly as?: string;
  /** Receives the outcome of every reservation. */
  readonly outcomes?: OutcomeLog;
  /** Called before anything is reserved; throws where the payer does not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Receives the queries sent to a database for each entry, also after a failure. */
  readonly onQueries?: (log: QueryLog) => void;
  /** Receives the progress of opening, in percent, where ties are read from the data. */
  readonly progress?: (done: number, total: number) => void;
  /** Recognition of data that already has a budget. */
  readonly claims?: ClaimOptions;
}

/** The payer, and the callbacks of one release. */
export type Payer = Pick<
  ReleaseContext,
  'analyst' | 'as' | 'once' | 'outcomes' | 'decide' | 'onQueries' | 'recordedOnly' | 'replaying'
>;

export interface ReleaseOptions extends SpendOptions {
  /** Clamp counts at zero and make totals agree. */
  readonly tidy?: boolean;
  readonly label?: string;
  /** Sentences about what is computed instead of the request. Not part of the request key. */
  readonly instead?: readonly string[];
  /** Read the data as it is now and pay for it, even if an answer to the same request is recorded. */
  readonly fresh?: boolean;
}

/** One steward's policy, one database, one ledger: plan for free, release for budget. */
export async function createSession(parts: SessionParts): Promise<PrivacySession> {
  const { policy } = parts;
  refuseUnready(policy);
  const { whole } = parts.engine;
  refuseDataOfAnotherPolicy(whole.source, policy);
  const { progress, claims, ...others } = parts;
  const { account, unused, id } = await accountOnData(policy, whole, progress);
  const context: ReleaseContext = {
    ...others,
    engine: unused ? await whole.without(unused.column, unused.names) : whole,
    account,
    opening: accountOpening(policy),
    claims: new DataClaims(policy, parts.ledger, claims),
    analyst: parts.analyst ?? systemAnalyst(),
    ...(id !== undefined && { tiesOf: id }),
  };
  await refuseChangedReadings(context);
  return new PrivacySession(context);
}

/** Reads every declared file and tie, spends nothing. Throws the fault that every release would meet. */
export async function accountOnData(policy: Policy, engine: Engine, progress: Progress = () => undefined) {
  const { amplifiers, unused, readsData, id } = await withPublicReader(engine, policy, async (look) => {
    const declared = await look(publicReads.ties, { progress: (done) => progress(50 * done, 100) });
    return { ...declared, ...(declared.readsData && policy.dependence.length > 0 && { id: await look(publicReads.content) }) };
  });
  const account = openAccount(policy, amplifiers, (done) => readsData && progress(50 + (50 * done) / amplifiers.length, 100));
  return { account, ...(unused && { unused }), ...(id !== undefined && { id }) };
}
type Progress = NonNullable<SessionParts['progress']>;

/** Data and ledger of a session: for analyses that need its public size, and for tests. */
export let releaseContextOf: (session: PrivacySession) => ReleaseContext;

export class PrivacySession {
  readonly #desk: ReleaseContext;
  readonly #promise: (route: LeakageRoute) => Guarantee;
  readonly #keys: (canonical: string) => RequestKeys;
  readonly #receipts: (parts: ReceiptParts) => Receipt;
  constructor(context: ReleaseContext) {
    this.#desk = context;
    this.#promise = guaranteeFor(context.policy, context.account);
    this.#keys = requestKeys(context.policy);
    this.#receipts = receiptsFor(context.policy);
  }
  static {
    releaseContextOf = (session) => session.#desk;
  }

  /** The same data, account and ledger, for another payer. */
  forPayer(payer: Payer): PrivacySession {
    const { analyst, ...payerOptions } = payer;
    const {
      as: _as,
      once: _once,
      outcomes: _outcomes,
      decide: _decide,
      onQueries: _onQueries,
      wording: _wording,
      recordedOnly: _recorded,
      replaying: _replaying,
      ...context
    } = this.#desk;
    return new PrivacySession({ ...context, ...payerOptions, analyst });
  }
  /** The same for a reader of recorded answers, who cannot pay. */
  reader(replaying: NonNullable<ReleaseContext['replaying']>): PrivacySession {
    const { once, analyst } = this.#desk;
    return this.forPayer({ analyst, recordedOnly: true, replaying, ...(once !== undefined && { once }) });
  }
  /** The same for one question, whose text is kept with its answer. */
  withQuestion(question: unknown, { epsilon, label }: ReleaseOptions): PrivacySession {
    const { once } = this.#desk;
    const requested = {
      question,
      ...(epsilon !== undefined && { epsilon: String(epsilon) }),
      ...(label !== undefined && { label }),
      ...(once !== undefined && { once }),
    };
    return new PrivacySession({ ...this.#desk, wording: requested });
  }

  get policy(): Policy {
    return this.#desk.policy;
  }
  get account(): Account {
    return this.#desk.account;
  }

  /** Spent costs, including those set aside for other publishers. */
  async spent(): Promise<SpentCosts> {
    return withOthers(this.account, await this.#desk.ledger.spent(this.policy.population));
  }

  /** Spent costs before a further request: throws where every release would be refused. */
  async balance(): Promise<AccountBalance> {
    const { policy, account } = this;
    const context = this.#desk;
    const { population } = policy;
    const { claim: _claim, ...opening } = await openingFor(context);
    const reserved = await context.ledger
      .spentUnder({ population, terms: account.terms, ...opening })
      .catch(async (error: unknown) => Promise.reject(await withWayOut(error, context.ledger, { policy, account })));
    const spent = withOthers(account, reserved);
    const quota = quotaOf(policy.budget, context.analyst);
    return quota ? { ...spent, own: { spent: await context.ledger.spent(population, context.analyst), quota } } : spent;
  }

  /** Claims the data before the first request: whoever sets up a service meets the refusal, not the first analyst. */
  async claimAhead(): Promise<void> {
    await this.#desk.claims?.claimAhead();
  }

  /** Records the cost of another publisher's releases about these people. */
  enter(entering: ForeignSpending): Promise<SpendEntry> {
    return enterForeignSpending(this.#desk, entering);
  }

  entries(): Promise<readonly SpendEntry[]> {
    return this.#desk.ledger.entries(this.policy.population);
  }

  page(page: EntryRange): Promise<readonly SpendEntry[]> {
    return this.#desk.ledger.page(this.policy.population, page);
  }

  /** The latest recorded answer to every request that was paid for, oldest first. */
  async recorded(): Promise<readonly { readonly entry: SpendEntry; readonly answer: string }[]> {
    const { ledger, policy } = this.#desk;
    const keys = new Set((await this.entries()).filter(({ settled }) => settled).map(({ key }) => key));
    const found: { entry: SpendEntry; answer: string }[] = [];
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
    return this.#keys(once === undefined ? canonical : JSON.stringify(['once', once, canonical]));
  }

  /** Pays for and runs one request; analyses and patterns are built on it. */
  charge<T>({ canonical, ...request }: CanonicalRequest<T>): Promise<ChargeResult<T>> {
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
  plan(query: unknown, options: ReleaseOptions = {}): Promise<Plan> {
    return planBatch(this, this.#desk, query, options);
  }

  release(query: unknown, options: ReleaseOptions = {}): Promise<Release> {
    return releaseBatch(this, this.#desk, query, options);
  }

  /** True if the answer is on record, so that a release reads no data. */
  isRecorded(query: unknown, options: ReleaseOptions = {}): Promise<boolean> {
    return isBatchRecorded(this, this.#desk, query, options);
  }

  /** The share of the whole budget that a request may use. */
  share(options: ReleaseOptions, balance: AccountBalance, selection?: SliceSelection): Rational {
    return chooseShare(this.account, options, balance, selection);
  }

  #records?: Promise<number> | undefined;
  /** Number of records, which is public. Whoever waited for a read that failed reads again: it may have had less time. */
  records(): Promise<number> {
    if (this.#records) return this.#records.catch(() => this.records());
    this.#records = this.read(publicReads.records).catch((error: unknown) => {
      this.#records = undefined;
      throw error;
    });
    return this.#records;
  }

  /** SQL dialect of the engine: plans predict from it the part of the work that is left to the database. */
  get dialect(): Dialect {
    return this.#desk.engine.dialect;
  }

  /** Memory limit in bytes for rows and ties. */
  get memoryLimit(): number {
    return this.#desk.engine.room;
  }

  /** Column names of the data, or of another table. */
  async sourceColumns(table?: string): Promise<readonly string[]> {
    return (await this.read(publicReads.columns, table)).map(({ name }) => name);
  }

  /** A registered public fact about the data; noted in the ledger where later terms could make it secret. */
  read<Argument, Result>(read: PublicRead<Argument, Result>, ...requested: ReadArguments<Argument>): Promise<Result> {
    return readPublic(this.#desk, read, ...requested);
  }

  /** Rows of each step by public columns. */
  stepRows(requested: StepRowsRequest): Promise<StepRows> {
    return this.read(publicReads.stepRows, requested);
  }
  /** Stays the same as long as the data does; a digest of the content where there is no cheaper sign. */
  moment(): Promise<object | string> {
    return this.read(publicReads.moment);
  }

  /** The plan of anything that is paid for: its own figures, plus budget, what-if table and promise. */
  completePlan(own: PlanInput): Plan {
    return completePlan(this.#desk, this.#promise, own);
  }

  /** The receipt of a release, now or from its record. */
  receipt(parts: ReceiptParts): Receipt {
    return this.#receipts(parts);
  }

  /** True if the ledger would admit this in addition to earlier costs. */
  admits(cost: PrivacyCost, reading: RequestReading, balance: AccountBalance): boolean {
    return refusalOf({ account: this.account, quota: quotaFor(this.#desk), balance, cost, reading }) === undefined;
  }

  /** Allowance of a request that depends on every record of a class (allowance.ts). */
  async allowance(
    options: ReleaseOptions,
    record: RecordClass = everyRecord,
    reading: RequestReading = {},
    { spent, part }: Partial<Pick<TouchedRecords, 'spent' | 'part'>> = {},
  ): Promise<Allowance> {
    refuseUnproven(this.policy, reading);
    return allowanceOf(this.#desk, options, { spent: spent ?? (await this.balance()), record, reading, part });
  }

  /** Pays for and runs an analysis whose whole cost is known in advance; a repeated request returns the recorded result. */
  analyse<T>(request: Analysis<T>): Promise<{ readonly result: T; readonly receipt: Receipt }> {
    return runAnalysis(
      {
        policy: this.policy,
        charge: (requested) => this.charge(requested),
        receipt: this.#receipts,
        replaying: this.#desk.replaying,
      },
      request,
    );
  }

  /** Upper bound on the privacy loss of one record so far, ties included; under add-remove, about its presence. */
  async privacyLoss(): Promise<number> {
    return privacyLossBound(this.account, await this.spent());
  }
}
