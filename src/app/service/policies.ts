import { basename } from 'node:path';
import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { canonicalPath } from '../../policy/population.js';
import type { Payer, Session } from '../../release/session/session.js';
import { type Fugu, openShared, type SharedFugu } from '../api/fugu.js';

/** A policy that is being served: opened once, asked by many. */
export interface Served {
  readonly name: string;
  readonly file: string;
  readonly policy: Policy;
  /** As it is asked by somebody, and under which name of one asking. */
  of(analyst: string, more?: Omit<Payer, 'analyst'>): Fugu;
  /** The same for what is no question. */
  session(analyst: string, more?: Omit<Payer, 'analyst'>): Session;
}
type Open = Served & { readonly shared: SharedFugu };

export interface PolicyOptions {
  readonly files: readonly string[];
  /** Made in the console before: one that cannot be served is told of, and does not keep the others from being served. */
  readonly made?: readonly string[];
  /** Remembers which data has a budget. */
  readonly registry: string;
  /** Why data of these files may have a second budget. */
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

  /** Serves one more, unless its data has another budget and nobody says why it may have two. */
  async add(file: string, newBudget?: string): Promise<Served> {
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

  get all(): readonly Served[] {
    return [...this.#served.values()];
  }
  find(name: string): Served | undefined {
    return this.#served.get(name);
  }
  async close(): Promise<void> {
    for (const { shared } of this.#served.values()) await shared.close();
  }
}

const nameOf = (file: string): string => basename(file).replace(/\.ya?ml$/i, '');
