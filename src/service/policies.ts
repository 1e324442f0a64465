import { basename } from 'node:path';
import { type Fugu, openShared, type SharedFugu } from '../ask/fugu.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';

/** A policy that is being served: opened once, asked by many. */
export interface Served {
  readonly name: string;
  readonly file: string;
  readonly policy: Policy;
  /** As it is asked by somebody, and under which name of one asking. */
  of(analyst: string, once?: string): Fugu;
}

export class Policies {
  readonly #served: ReadonlyMap<string, Served & { readonly shared: SharedFugu }>;
  private constructor(served: ReadonlyMap<string, Served & { readonly shared: SharedFugu }>) {
    this.#served = served;
  }

  static async begin(files: readonly string[], opening: (source: string) => void = () => undefined): Promise<Policies> {
    const served = new Map<string, Served & { readonly shared: SharedFugu }>();
    try {
      for (const file of files) {
        const name = nameOf(file);
        if (served.has(name))
          throw new Fault(
            'USAGE',
            `Two policies are called "${name}".`,
            'Give their files different names: people ask for them by it.',
          );
        const shared = await openShared(file, { opening });
        served.set(name, {
          name,
          file,
          policy: shared.policy,
          shared,
          of: (analyst, once) => shared.of({ analyst, ...(once !== undefined && { once }) }),
        });
      }
    } catch (error) {
      for (const { shared } of served.values()) await shared.close().catch(() => undefined);
      throw error;
    }
    return new Policies(served);
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
