import { unguessable } from '../noise/bits.js';
import { AuditLog } from './audit-log.js';
import { Metrics } from './metrics.js';
import { Policies, type Served } from './policies.js';
import type { Caller } from './route.js';
import { Tokens } from './token.js';
import { Rate, Turns } from './turns.js';

export interface ServiceOptions {
  readonly policies: readonly string[];
  /** Folders: one file per token, and the audit log of this process. */
  readonly tokens: string;
  readonly log: string;
  readonly limits?: Partial<ServiceLimits>;
  readonly opening?: (source: string) => void;
}

export interface ServiceLimits {
  readonly bodyBytes: number;
  /** Requests that read data at the same time, and those that may wait for a turn. */
  readonly working: number;
  readonly waiting: number;
  /** Of one token: at once, and a second. */
  readonly burst: number;
  readonly perSecond: number;
  /** Wrong tokens of one address. */
  readonly guesses: number;
}
const usual: ServiceLimits = { bodyBytes: 4 * 2 ** 20, working: 4, waiting: 200, burst: 100, perSecond: 50, guesses: 20 };

const mostKeys = 10_000;

/** What all requests share. */
export class Service {
  readonly limits: ServiceLimits;
  readonly tokens: Tokens;
  readonly log: AuditLog;
  readonly metrics = new Metrics();
  readonly turns: Turns;
  readonly rate: Rate;
  readonly guesses: Rate;
  readonly #policies: Policies;
  #stopping = false;

  private constructor(options: ServiceOptions, policies: Policies) {
    this.limits = { ...usual, ...options.limits };
    this.#policies = policies;
    this.tokens = new Tokens(options.tokens);
    this.log = new AuditLog(options.log);
    this.turns = new Turns(this.limits.working, this.limits.waiting);
    this.rate = new Rate(this.limits.burst, this.limits.perSecond);
    this.guesses = new Rate(this.limits.guesses, this.limits.guesses / 60);
    this.metrics.gauge('fugu_working', 'Requests that read data now.', () => this.turns.busy);
    this.metrics.gauge('fugu_waiting', 'Requests that wait for a turn.', () => this.turns.waiting);
  }

  static async begin(options: ServiceOptions): Promise<Service> {
    const policies = await Policies.begin(options.policies, options.opening);
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
  /** From here on nothing new is begun. */
  stop(): void {
    this.#stopping = true;
  }

  policiesOf({ policies }: Caller): readonly Served[] {
    return this.#policies.all.filter(({ name }) => policies === undefined || policies.includes(name));
  }
  /** Undefined also where it is not for this caller: nobody learns which policies there are. */
  policyOf(caller: Caller, name: string): Served | undefined {
    return this.policiesOf(caller).find((served) => served.name === name);
  }

  readonly #keys = new Map<string, string>();
  /** Whether a key was sent with nothing else lately. The ledger, not this, keeps a request from being paid for twice. */
  sameAsBefore(key: string, asked: string): boolean {
    const before = this.#keys.get(key);
    if (before !== undefined) return before === asked;
    if (this.#keys.size >= mostKeys) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(key, asked);
    return true;
  }

  newRequest(): string {
    return unguessable(8).toString('hex');
  }

  async close(): Promise<void> {
    await this.#policies.close();
    this.log.close();
  }
}
