import { basename } from 'node:path';
import { type Fugu, openShared, type SharedFugu } from '../ask/fugu.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import type { Payer, Session } from '../release/session.js';

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

export class Policies {
  readonly #served = new Map<string, Open>();
  readonly #opening: (source: string) => void;
  private constructor(opening: (source: string) => void) {
    this.#opening = opening;
  }

  static async begin(files: readonly string[], opening: (source: string) => void = () => undefined): Promise<Policies> {
    const policies = new Policies(opening);
    try {
      for (const file of files) await policies.add(file);
    } catch (error) {
      await policies.close().catch(() => undefined);
      throw error;
    }
    return policies;
  }

  /** Serves one more. */
  async add(file: string): Promise<Served> {
    const name = nameOf(file);
    if (this.#served.has(name))
      throw new Fault(
        'USAGE',
        `Two policies are called "${name}".`,
        'Give their files different names: people ask for them by it.',
      );
    const shared = await openShared(file, { opening: this.#opening });
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
