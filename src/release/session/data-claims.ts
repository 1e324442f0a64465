import { changedFault, Fault, type FaultCode } from '../../base/errors.js';
import { existsSync } from '../../base/platform/files.js';
import { sha256 } from '../../base/platform/hash.js';
import { dirname } from '../../base/platform/paths.js';
import { type FileState, fileState, unpackedDigest } from '../../data/engine/data-file.js';
import { isDatabase } from '../../policy/address.js';
import { secretServerTables } from '../../policy/data-source.js';
import type { Policy } from '../../policy/policy.js';
import { secretFiles } from '../../policy/population.js';
import {
  addClaim,
  type Claim,
  claimsIn,
  type DataAccount,
  isRemembered,
  isSameAccount,
  type Registry,
  registriesOf,
  rememberState,
  wasOpened,
} from '../ledger/known-data.js';
import type { Ledger, Reservation } from '../ledger/ledger.js';
import type { ReleaseContext } from './release-context.js';

export interface ClaimOptions {
  /** Registry of a service, in addition to that of its user and of the ledger. */
  readonly registry?: string;
  /** Why this account may be opened although its data has another one. */
  readonly newBudget?: string;
  /** Called if the user's own registry could not be written. */
  readonly caution?: (error: unknown) => void;
}

/** Larger files are read for their digest only when an account is opened. */
const mostBytes = 256 * 2 ** 20;

interface Opening {
  readonly lookUp: () => void;
  readonly claim: NonNullable<Reservation['claim']>;
}

/** Content to look up in the registries. */
interface Content {
  readonly digests: readonly string[];
  /** Digests with which this account was open although its ledger lost it: opening it again would give a second budget. */
  readonly lost: ReadonlySet<string>;
}

/** Content that holds the secret of a policy: files by their bytes, tables on a server by their names. */
interface Secrets {
  readonly files: readonly string[];
  readonly tables: readonly string[];
}
const secretsOf = (policy: Policy): Secrets => ({
  files: secretFiles(policy).filter((file) => !isDatabase(file)),
  tables: secretServerTables(policy),
});
const isNothing = ({ files, tables }: Secrets): boolean => files.length + tables.length === 0;

async function digestsOf(files: readonly FileState[], { tables }: Pick<Secrets, 'tables'>): Promise<readonly string[]> {
  const ofTables = tables.map((name) => sha256(`table ${name}`));
  return [...(await Promise.all(files.map(unpackedDigest))), ...ofTables];
}

/** Claims on one digest in one registry: this account's own, and those of others where this account has none there. */
interface ClaimsFound {
  readonly digest: string;
  readonly own?: Claim;
  readonly others: readonly Claim[];
}

/** Each digest is checked separately in each registry: a claim on one file does not cover another file. */
function claimsOn(registries: readonly Registry[], digests: readonly string[], account: DataAccount): readonly ClaimsFound[] {
  return registries.flatMap((registry) =>
    digests.map((digest) => {
      const claims = claimsIn(registry, digest);
      const own = claims.find((claim) => isSameAccount(claim, account));
      return own ? { digest, own, others: [] } : { digest, others: claims };
    }),
  );
}

/** Reasons that this account has on record, by the digests they were given for. */
const reasonsIn = (found: readonly ClaimsFound[]): ReadonlyMap<string, string> =>
  new Map(found.flatMap(({ digest, own }) => (own?.reason === undefined ? [] : [[digest, own.reason] as const])));

/** A claim of another account on a digest for which this account has no reason on record. */
function unexplained(found: readonly ClaimsFound[]): readonly (ClaimsFound & { readonly other: Claim })[] {
  const reasons = reasonsIn(found);
  return found.flatMap((each) => {
    const [other] = each.others;
    return other && !reasons.has(each.digest) ? [{ ...each, other }] : [];
  });
}

/**
 * Claims of one account on its data. Before an account is opened, the content of the files with the secret is looked up in the registries
 * (data-claims.proof.md): data of another account needs a steward's reason. An existing account is never refused.
 */
export class DataClaims {
  readonly #account: DataAccount;
  readonly #ledger: Ledger;
  readonly #secrets: Secrets;
  readonly #registries: readonly Registry[];
  readonly #options: ClaimOptions;
  #isOpen = false;
  /** Digests that `newBudget` was given for: those of the first lookup. */
  #explained: ReadonlySet<string> | undefined;
  /** Digests that a steward claimed when the data was served: requests that come later learn nothing about other accounts. */
  #ahead: ReadonlySet<string> | undefined;
  #remembered = '';

  constructor(policy: Policy, ledger: Ledger, options: ClaimOptions = {}) {
    this.#account = { population: policy.population, ledger: policy.ledger };
    this.#ledger = ledger;
    this.#secrets = secretsOf(policy);
    this.#registries = isNothing(this.#secrets) ? [] : registriesOf(policy.ledger, options.registry);
    this.#options = options;
  }

  /** Undefined if the account is open, or if recognition is off. */
  async prepared(): Promise<Opening | undefined> {
    if (this.#registries.length === 0 || (await this.#isOpened())) return undefined;
    const digests = await digestsOf(await this.#states(), this.#secrets);
    this.#explained ??= new Set(digests);
    const ahead = this.#ahead;
    if (ahead && digests.some((digest) => !ahead.has(digest))) throw changedSinceServed();
    const lost = this.#rememberedOpen(digests);
    // Opened by another process since the ledger was read.
    if (lost.size > 0 && (await this.#isOpened())) return undefined;
    return { lookUp: () => this.#lookUp({ digests, lost }), claim: () => this.#claim({ digests, lost }) };
  }

  #rememberedOpen(digests: readonly string[]): ReadonlySet<string> {
    const registries = this.#registries.filter((registry) => wasOpened(registry, this.#account));
    return new Set(claimsOn(registries, digests, this.#account).flatMap(({ digest, own }) => (own ? [digest] : [])));
  }

  /** Claims the data before the first request; refused as opening the account would be. */
  async claimAhead(): Promise<void> {
    if (await this.#isOpened()) return this.remember();
    const opening = await this.prepared();
    opening?.lookUp();
    opening?.claim();
    this.#ahead = this.#explained;
  }

  /** Remembers the present content for an open account. No answer depends on whether that works. */
  async remember(): Promise<void> {
    if (this.#registries.length === 0) return;
    try {
      const files = await this.#states();
      const state = JSON.stringify([...files.map(({ mark }) => mark), ...this.#secrets.tables]);
      if (this.#remembered === state) return;
      for (const registry of this.#registries) await this.#rememberIn(registry, files, state).catch(() => undefined);
      this.#remembered = state;
    } catch {
      // Removed or changed meanwhile: the next release looks again.
    }
  }

  async #rememberIn(registry: Registry, files: readonly FileState[], state: string): Promise<void> {
    if (isRemembered(registry, this.#account, state)) return;
    const digests = files.some(({ bytes }) => bytes > mostBytes) ? [] : await digestsOf(files, this.#secrets);
    for (const digest of digests) addClaim(registry, digest, this.#account, () => ({}));
    rememberState(registry, this.#account, state);
  }

  async #isOpened(): Promise<boolean> {
    this.#isOpen ||= (await this.#ledger.account(this.#account.population)) !== undefined;
    return this.#isOpen;
  }

  #states(): Promise<readonly FileState[]> {
    return Promise.all(this.#secrets.files.map(fileState));
  }

  /** Refuses data of another account unless this one has claimed it before, and data of this account if its ledger lost it. */
  #lookUp({ digests, lost }: Content): readonly ClaimsFound[] {
    for (const digest of lost) this.#refuse(digest, hadBudget(this.#account));
    const found = claimsOn(this.#registries, digests, this.#account);
    for (const { digest, other } of unexplained(found)) this.#refuse(digest, alreadyBudgeted(other));
    return found;
  }

  #refuse(digest: string, refusal: Fault): void {
    if (!this.#ahead?.has(digest) && this.#reasonFor(digest) === undefined) throw refusal;
  }

  /** The reason that was given now, for the digests it was given for. */
  #reasonFor(digest: string): string | undefined {
    return this.#explained?.has(digest) ? this.#options.newBudget : undefined;
  }

  /** Adds the claim in every registry or in none. Returns the reasons where the data has another account. */
  #claim(content: Content): string | undefined {
    const { digests, lost } = content;
    const found = this.#lookUp(content);
    // A recorded reason was given for the lost account.
    const reasons = new Map(reasonsIn(found));
    for (const digest of lost) {
      const reason = this.#reasonFor(digest);
      if (reason !== undefined) reasons.set(digest, reason);
    }
    const explain = (digest: string, [other]: readonly Claim[]): void => {
      if (!other || reasons.has(digest)) return;
      this.#refuse(digest, alreadyBudgeted(other));
      const reason = this.#reasonFor(digest);
      if (reason !== undefined) reasons.set(digest, reason);
    };
    for (const { digest, others } of found) explain(digest, others);
    const added: (() => void)[] = [];
    try {
      for (const registry of this.#registries.filter(isThere))
        this.#writing(registry, () => {
          for (const digest of digests) {
            const done = addClaim(registry, digest, this.#account, (others) => {
              explain(digest, others);
              const reason = reasons.get(digest);
              return reason === undefined ? {} : { reason };
            });
            if ('takeBack' in done) added.push(done.takeBack);
          }
        });
    } catch (error) {
      for (const takeBack of added) takeBack();
      throw error;
    }
    return reasons.size === 0 ? undefined : [...new Set(reasons.values())].join('; ');
  }

  #writing(registry: Registry, write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!registry.isOptional || !(error instanceof Fault) || !unwritable.includes(error.code)) throw error;
      this.#options.caution?.(notRemembered(error));
    }
  }
}

/** A ledger's folder is made by the ledger. */
const isThere = ({ folder, isInLedgerFolder }: Registry): boolean => !isInLedgerFolder || existsSync(dirname(folder));

const unwritable: readonly FaultCode[] = ['READ_ONLY', 'DISK_FULL', 'DISK_FAILED'];

/** Callbacks of a reservation that may open an account. */
export async function openingFor(
  context: Pick<ReleaseContext, 'opening' | 'claims'>,
): Promise<Pick<Reservation, 'opening' | 'claim'>> {
  const prepared = await context.claims?.prepared();
  const opening = (others: readonly string[]): void => {
    // The first account of a ledger duplicates none.
    if (others.length > 0) context.opening(others);
    prepared?.lookUp();
  };
  return { opening, ...(prepared && { claim: prepared.claim }) };
}

/** Warnings about data that has the budget of another account, before any request; empty where it has none. */
export async function budgetElsewhere(policy: Policy, registry?: string): Promise<readonly string[]> {
  const secrets = secretsOf(policy);
  const registries = isNothing(secrets) ? [] : registriesOf(policy.ledger, registry);
  if (registries.length === 0) return [];
  const digests = await digestsOf(await Promise.all(secrets.files.map(fileState)), secrets);
  const faults = unexplained(claimsOn(registries, digests, policy)).map(({ other }) => alreadyBudgeted(other));
  return [...new Set(faults.map(({ message, hint }) => `${message} ${hint}`))];
}

/** The same message whatever the data is now: only its owner may learn whether it has another account. */
const changedSinceServed = (): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    'The data has changed since it was served, and its budget is not open yet.',
    'Whoever serves it must claim it again: restart the service.',
  );

const alreadyBudgeted = ({ population, ledger }: Claim): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    `This data has a budget already: that of "${population}" in the ledger ${ledger}${isGone(ledger) ? ', which is not there any more' : ''}.`,
    `To go on with it, write population: ${JSON.stringify(population)} and ledger: ${JSON.stringify(ledger)} into the policy. A second budget needs a reason, which goes on record: --new-budget REASON (newBudget). What is promised about both adds up.`,
    { details: { population } },
  );
const hadBudget = ({ population, ledger }: DataAccount): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    `This data had a budget here, that of "${population}", and the ledger ${ledger} does not hold it any more.`,
    'Put the ledger back, or restore it from a backup; where it was moved, name it in the policy (ledger:, population:). A second budget needs a reason, which goes on record: --new-budget REASON (newBudget). What is promised about both adds up.',
    { details: { population } },
  );
const isGone = (ledger: string): boolean => !isDatabase(ledger) && !existsSync(ledger) && !existsSync(`${ledger}.chain`);

const notRemembered = (fault: Fault): Fault =>
  changedFault(fault, { message: `That this data has a budget is not remembered for this user. ${fault.message}` });
