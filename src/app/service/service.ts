import { setTimeout as after } from '../../base/platform/timers.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import { type AuditEvent, AuditLog } from './audit-log.js';
import { Drafts } from './drafts.js';
import { Jobs } from './jobs.js';
import { KeyedQueue } from './keyed-queue.js';
import { defaultServiceLimits, type ServiceLimits } from './limits.js';
import { MadePolicies } from './made-policies.js';
import { Metrics } from './metrics.js';
import { Policies, type ServedPolicy } from './policies.js';
import { Refusal } from './problem.js';
import type { Caller } from './route.js';
import { SignInSessions } from './sessions.js';
import { TokenStore } from './token.js';
import { RateLimiter, Turns } from './turns.js';

export interface ServiceOptions {
  readonly policies: readonly string[];
  /** Folders: one file per token, the audit log of this process, and files that stewards send for drafting. */
  readonly tokens: string;
  readonly log: string;
  readonly drafts: string;
  /** Folders of the policies made in the console, and of the registry of data that has a budget. */
  readonly made: string;
  readonly registry: string;
  /** Reason for a second budget of the policies' data. */
  readonly newBudget?: string;
  /** Receives policies made in the console that can no longer be served. */
  readonly unserved?: (file: string, error: unknown) => void;
  readonly limits?: Partial<ServiceLimits>;
  /** Trusted proxy in front, which reports each request's address and TLS. */
  readonly behindProxy?: boolean;
  /** Reachable by TLS, here or at the proxy: browsers are instructed to use nothing else. */
  readonly hsts?: boolean;
  readonly opening?: (source: string) => void;
}

const mostKeys = 10_000;

/** State shared by all requests. */
export class Service {
  readonly limits: ServiceLimits;
  readonly tokens: TokenStore;
  readonly sessions: SignInSessions;
  readonly log: AuditLog;
  readonly logFolder: string;
  readonly metrics = new Metrics();
  readonly turns: Turns;
  /** Turns of long computations, so that they do not delay short requests. */
  readonly figures: Turns;
  readonly sending: Turns;
  readonly jobs: Jobs;
  readonly drafts: Drafts;
  readonly made: MadePolicies;
  readonly requestQueue = new KeyedQueue();
  readonly rate: RateLimiter;
  readonly guesses: RateLimiter;
  readonly #noted: RateLimiter;
  #leftOut = 0;
  readonly behindProxy: boolean;
  readonly hsts: boolean;
  readonly #policies: Policies;
  #stopping = false;

  private constructor(options: ServiceOptions, policies: Policies) {
    this.limits = { ...defaultServiceLimits, ...options.limits };
    this.#policies = policies;
    this.behindProxy = options.behindProxy === true;
    this.hsts = options.hsts === true;
    this.tokens = new TokenStore(options.tokens);
    this.sessions = new SignInSessions(options.tokens, this.tokens);
    this.log = new AuditLog(options.log);
    this.logFolder = options.log;
    this.turns = new Turns(this.limits.working, this.limits.waiting);
    this.figures = new Turns(this.limits.figures, this.limits.waiting);
    this.sending = new Turns(this.limits.sending, 0);
    this.jobs = new Jobs(this.limits);
    this.drafts = new Drafts(options.drafts, this.limits.fileBytes, options.registry);
    this.made = new MadePolicies(options.made);
    this.rate = new RateLimiter(this.limits.burst, this.limits.perSecond);
    this.guesses = new RateLimiter(this.limits.guesses, this.limits.guesses / 60);
    this.#noted = new RateLimiter(this.limits.guesses, this.limits.guesses / 60);
    this.metrics.gauge('fugu_working', 'Requests that read data now.', () => this.turns.busy);
    this.metrics.gauge('fugu_waiting', 'Requests that wait for a turn.', () => this.turns.waiting);
    this.metrics.gauge('fugu_jobs', 'Jobs that have not ended.', () => this.jobs.underWay);
  }

  static async begin(options: ServiceOptions): Promise<Service> {
    const { policies: files, made, registry, newBudget, opening, unserved } = options;
    const policies = await Policies.begin({
      files,
      made: new MadePolicies(made).list(),
      registry,
      ...(newBudget !== undefined && { newBudget }),
      ...(opening && { opening }),
      ...(unserved && { unserved }),
    });
    try {
      return new Service(options, policies);
    } catch (error) {
      await policies.close();
      throw error;
    }
  }

  get stopping(): boolean {
    return this.#stopping;
  }
  /** Begins no new work from here on. */
  stop(): void {
    this.#stopping = true;
    this.jobs.stop();
  }

  policiesOf({ policies }: Caller): readonly ServedPolicy[] {
    return this.#policies.all.filter(({ name }) => policies === undefined || policies.includes(name));
  }
  /** Undefined also for a policy the caller may not use: nobody learns which policies exist. */
  policyOf(caller: Caller, name: string): ServedPolicy | undefined {
    return this.policiesOf(caller).find((served) => served.name === name);
  }
  /** Serves one more policy from here on. */
  serve(file: string, newBudget?: string): Promise<ServedPolicy> {
    return this.#policies.add(file, newBudget);
  }
  /** The same for a policy made in the console: it is served after a restart, too. */
  async serveMade(name: string, file: string, newBudget?: string): Promise<ServedPolicy> {
    if (!this.made.keep(name, file))
      throw new Refusal({
        status: 409,
        code: 'USAGE',
        title: `There is a policy called ${name} already.`,
        hint: 'Choose another name.',
      });
    try {
      return await this.serve(file, newBudget);
    } catch (error) {
      this.made.forget(name);
      throw error;
    }
  }
  get firstPolicy(): ServedPolicy | undefined {
    return this.#policies.all[0];
  }

  readonly #keys = new Map<string, string>();
  /** True unless the key was recently used for a different request. The ledger, not this check, prevents double payment. */
  sameAsBefore(key: string, digest: string): boolean {
    const before = this.#keys.get(key);
    if (before !== undefined) return before === digest;
    if (this.#keys.size >= mostKeys) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(key, digest);
    return true;
  }

  /** Writes to the log; refusals by which `somebody` could fill it are limited, and their number is noted. The metrics count all. */
  note(event: AuditEvent, somebody?: string): void {
    if (somebody !== undefined && this.#noted.wait(somebody) > 0) {
      this.#leftOut++;
      return;
    }
    this.log.add({ ...event, ...(this.#leftOut > 0 && { leftOut: this.#leftOut }) });
    this.#leftOut = 0;
  }

  /** Check that a caller would still be admitted, repeated at most once a second. */
  stillIn({ id }: Caller, session: string | undefined): () => boolean {
    let [known, at] = [true, performance.now()];
    return () => {
      if (!known || performance.now() - at < 1000) return known;
      at = performance.now();
      known = this.#isIn(id, session);
      return known;
    };
  }

  /** False on any error: the caller is in the middle of other work and cannot handle one. */
  #isIn(id: string, session: string | undefined): boolean {
    try {
      const token = this.tokens.read(id);
      if (!token || !this.tokens.isValid(token)) return false;
      return session === undefined || this.sessions.find(session) !== undefined;
    } catch {
      return false;
    }
  }

  newRequest(): string {
    return secretBytes(8).toString('hex');
  }

  /** Waits until the elapsed milliseconds fill a whole number of buckets. */
  async bucket(took: number): Promise<void> {
    const { bucketMilliseconds: size } = this.limits;
    if (size > 0) await after(Math.ceil(took / size) * size - took);
  }

  async close(): Promise<void> {
    await this.#policies.close();
    this.log.close();
  }
}
