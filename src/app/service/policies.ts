import { Fault } from '../../base/errors.js';
import { basename } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';
import { canonicalPath } from '../../policy/population.js';
import type { Payer, PrivacySession } from '../../release/session/session.js';
import { type Fugu, openShared, type SharedFugu } from '../api/fugu.js';

/** Served policy: opened once, shared by many analysts. */
export interface ServedPolicy {
  readonly name: string;
  readonly file: string;
  readonly policy: Policy;
  /** The policy for one analyst; `more` holds the settings of a single request. */
  of(analyst: string, more?: Omit<Payer, 'analyst'>): Fugu;
  /** The same as a session, for calls that are no question. */
  session(analyst: string, more?: Omit<Payer, 'analyst'>): PrivacySession;
}
type Open = ServedPolicy & { readonly shared: SharedFugu };

export interface PolicyOptions {
  readonly files: readonly string[];
  /** Policies made in the console earlier: one that fails is reported and does not keep the others from being served. */
  readonly made?: readonly string[];
  /** Registry of data that has a budget. */
  readonly registry: string;
  /** Reason for a second budget of these policies' data. */
  readonly newBudget?: string;
  readonly opening?: (source: string) => void;
  readonly unserved?: (file: string, error: unknown) => void;
}

export class Policies {
  readonly #served = new Map<string, Open>();
  readonly #opening: (source: string) => void;
  readonly #registry: string;
  private constructor({ opening = () => undefined, registry }: PolicyOptions) {
    this.#opening = opening;
    this.#registry = registry;
  }

  static async begin(options: PolicyOptions): Promise<Policies> {
    const { files, made = [], newBudget, unserved } = options;
    const policies = new Policies(options);
    try {
      for (const file of files) await policies.add(file, newBudget);
      const named = new Set(policies.all.map(({ policy }) => policy.file));
      for (const file of made)
        if (!named.has(canonicalPath(file))) await policies.add(file).catch((error: unknown) => unserved?.(file, error));
    } catch (error) {
      await policies.close().catch(() => undefined);
      throw error;
    }
    return policies;
  }

  /** Serves one more policy, unless its data has another budget and no reason for a second one is given. */
  async add(file: string, newBudget?: string): Promise<ServedPolicy> {
    const name = nameOf(file);
    if (this.#served.has(name))
      throw new Fault(
        'USAGE',
        `Two policies are called "${name}".`,
        'Give their files different names: people ask for them by it.',
      );
    const shared = await openShared(file, {
      opening: this.#opening,
      registry: this.#registry,
      claimAhead: true,
      ...(newBudget !== undefined && { newBudget }),
    });
    const served = {
      name,
      file,
      policy: shared.policy,
      shared,
      of: (analyst: string, more: Omit<Payer, 'analyst'> = {}) => shared.of({ analyst, ...more }),
      session: (analyst: string, more: Omit<Payer, 'analyst'> = {}) => shared.session({ analyst, ...more }),
    };
    this.#served.set(name, served);
    return served;
  }

  get all(): readonly ServedPolicy[] {
    return [...this.#served.values()];
  }
  find(name: string): ServedPolicy | undefined {
    return this.#served.get(name);
  }
  async close(): Promise<void> {
    for (const { shared } of this.#served.values()) await shared.close();
  }
}

const nameOf = (file: string): string => basename(file).replace(/\.ya?ml$/i, '');
