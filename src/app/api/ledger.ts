import { existsSync } from 'node:fs';
import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { fromNumber, parseRational, toNumber } from '../../base/exact/rational.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { isDatabase } from '../../policy/address.js';
import { addsRemoves, betweenValues, neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { nothingSpent, type Profile, type Spent, type StoredProfile, spend, toStored } from '../../privacy/mechanism/profile.js';
import { isOfRecords, type Kind, kindOf, storedClass } from '../../privacy/mechanism/record-class.js';
import { type Account, isCountedInFull, usedShareOf } from '../../release/accountant/account.js';
import { type BudgetState, budgetState, privacyLoss } from '../../release/accountant/budget-state.js';
import { termsOf } from '../../release/accountant/open-account.js';
import { otherSources } from '../../release/accountant/sources.js';
import type { Entry, Verification } from '../../release/ledger/ledger.js';
import { openLedger, witnessOf } from '../../release/ledger/open.js';
import type { Backup, Restored } from '../../release/ledger/rescue/backup.js';
import type { Recovery } from '../../release/ledger/rescue/recover.js';
import { type Amended, amendTerms as amendWith, canAmend } from '../../release/session/amend.js';
import { enteredIn, isEntered } from '../../release/session/entered-key.js';
import { type PartUse, partsSpent } from '../../release/session/parts.js';
import { type QuotaUse, quotaUses } from '../../release/session/quota.js';
import { createSession } from '../../release/session/session.js';
import { type FileName, faulting, fileNamed, readOptions, reason } from './door.js';
import { closing, type Opened } from './opened.js';

/** One booking, as plain data. */
export interface LedgerEntry {
  readonly sequence: number;
  readonly at: string;
  readonly analyst: string;
  /** What they call themselves; never relied on. */
  readonly as?: string;
  readonly label: string;
  /** What it uses of the budget by itself, ties included, under the terms as they are; absent where it pays for nothing. Parts need not add up to what all of them use. */
  readonly epsilon?: number;
  readonly profile: StoredProfile;
  readonly relied: readonly string[];
  /** Its answer is recorded and can be told again. */
  readonly settled: boolean;
  /** It was answered, but the recorded text is lost: the same request pays again. */
  readonly textLost?: true;
  /** Spent by somebody else. */
  readonly entered?: true;
  readonly hash: string;
}

/** Entries as plain data; whoever asks the same often pays the same often. */
export function entriesOf(entries: readonly Entry[], account: Account, all: Spent): readonly LedgerEntry[] {
  const known = new Map<string, number>();
  const total = toNumber(account.epsilon);
  return entries.map((e) => {
    const profile = JSON.stringify(toStored(e.profile));
    const epsilon = known.get(profile) ?? toNumber(usedShareOf(account, spend(nothingSpent, e.profile), all)) * total;
    known.set(profile, epsilon);
    return { ...entryOf(e), ...(e.profile.perRecord.size > 0 && { epsilon }) };
  });
}

const entryOf = (e: Entry): LedgerEntry => ({
  sequence: e.sequence,
  at: new Date(e.at).toISOString(),
  analyst: e.analyst,
  ...(e.as !== undefined && { as: e.as }),
  label: e.label,
  profile: toStored(e.profile),
  relied: e.relied,
  settled: e.settled,
  ...(e.textLost && { textLost: true }),
  ...(isEntered(e) && { entered: true }),
  hash: e.hash,
});

/** What an entry cost: the worst over the classes of records it touches, in epsilon or rho before ties. */
export interface EntryCost {
  readonly unit: 'epsilon' | 'rho';
  /** Undefined where it was paid for once, apart from the budget, or nothing was. */
  readonly worst?: number;
  /** What it cost between two values that are a declared pair, where it was booked so. */
  readonly along?: number;
  readonly classes: number;
  readonly apart: boolean;
}

export function costOf({ profile: { noise, perRecord } }: LedgerEntry): EntryCost {
  const all = Object.entries(perRecord);
  const listed = all.filter(([name]) => isOfRecords(storedClass(name))).map(([, cost]) => toNumber(parseRational(cost)));
  const unit = noise === 'pure' ? 'epsilon' : 'rho';
  const worst = listed.reduce((a, b) => Math.max(a, b), 0);
  const ofKind = (kind: Kind) => all.filter(([name]) => kindOf(storedClass(name)) === kind);
  const along = ofKind('pairs').map(([, cost]) => toNumber(parseRational(cost)))[0] ?? 0;
  const noted = ofKind('paired').length > 0 && { along };
  return {
    unit,
    ...(listed.length > 0 && { worst }),
    ...noted,
    classes: listed.length,
    apart: listed.length === 0 && ofKind('once').length > 0,
  };
}

/** What a population has spent and what remains, ties included. */
export interface Spending {
  readonly population: string;
  readonly ledger: string;
  /** The terms its account was opened with; null before the first release. */
  readonly terms: string | null;
  /** Entries that paid from it may be lost: nothing is released until the terms are amended. */
  readonly closed?: true;
  /** Whether this policy declares those terms. */
  readonly agrees: boolean;
  /** Where it declares others: whether `amendTerms` could take them over. */
  readonly amendable?: boolean;
  readonly policyTerms: string;
  readonly budget: BudgetState;
  /** What of that somebody else has spent, or may, in epsilon: entered, and set aside for those who do not say. */
  readonly others?: { readonly entered: number; readonly setAside: number };
  /** More than the budget was spent: nothing can be released. */
  readonly over?: true;
  /** What an attacker may have gained at most about one record so far: with `neighbours: add-remove`, about whether it is there. */
  readonly gained: number;
  /** Where ties are declared and some of it was spent on other data: why nothing bounds it. */
  readonly elsewhere?: string;
  /** Where the policy names pairs of values, `gained` is about two values that are one. */
  readonly pairs?: true;
  /** The same about its values, where that is more. */
  readonly gainedBetweenValues?: number;
  /** Where something was released about values of a public column only: what is spent and left there. */
  readonly parts?: readonly PartUse[];
  readonly quotas?: readonly QuotaUse[];
}

export async function spendingOf({ policy, session, ledger }: Opened): Promise<Spending> {
  const known = await ledger.account(policy.population);
  const spent = await session.spent();
  const total = toNumber(session.account.epsilon);
  const parts = partsSpent(policy, session.account, spent);
  const agrees = known === undefined || known.terms.digest === policy.digest;
  const loss = privacyLoss(session.account, spent);
  const entered = await enteredIn(ledger, policy.population);
  const alone = (profiles: readonly Profile[]) =>
    profiles.length === 0 ? 0 : toNumber(usedShareOf(session.account, profiles.reduce(spend, nothingSpent), spent)) * total;
  const others = { entered: alone(entered.map((e) => e.profile)), setAside: alone(session.account.others ?? []) };
  return {
    population: policy.population,
    ledger: policy.ledger,
    terms: known?.terms.summary ?? null,
    ...(known?.closed && { closed: true }),
    agrees,
    ...(!agrees && { amendable: await canAmend(ledger, { policy, account: session.account }) }),
    policyTerms: termsOf(policy).summary,
    budget: budgetState(session.account, spent),
    ...((others.entered > 0 || others.setAside > 0) && { others }),
    ...(!loss.kept && !otherSources(session.account.source, spent) && !isCountedInFull(session.account, spent) && { over: true }),
    ...gainedOf(policy, loss.epsilon),
    ...elsewhereIn(session.account, spent),
    ...(policy.protect.pairs && { pairs: true }),
    ...(parts.length > 0 && { parts }),
    ...(policy.budget.analysts && {
      quotas: await quotaUses(policy, session.account, ledger),
    }),
  };
}

function elsewhereIn({ source }: Account, spent: Spent): Pick<Spending, 'elsewhere'> {
  const refused = otherSources(source, spent);
  return refused ? { elsewhere: refused.message } : {};
}

function gainedOf(policy: Policy, gained: number): Pick<Spending, 'gained' | 'gainedBetweenValues'> {
  if (!addsRemoves(policy)) return { gained };
  const values = Number.isFinite(gained) ? toNumber(betweenValues(neighboursOf(policy), fromNumber(gained))) : gained;
  return { gained, gainedBetweenValues: values };
}

const witness = z.string().optional();
const witnessed = z.strictObject({
  /** A program that remembers the head of the chain elsewhere; otherwise what FUGU_WITNESS names. */
  witness,
});
export type LedgerOptions = z.input<typeof witnessed>;
export const reasoned = z.strictObject({
  /** Why; written into the chain for good. */
  reason,
  witness,
});
export type ReasonedOptions = z.input<typeof reasoned>;
const restoring = z.strictObject({ reason: reason.optional(), witness });
export type RestoreOptions = z.input<typeof restoring>;

/** Looking must not make a new, empty ledger where one was expected. */
export async function policyWithLedger(policy: FileName): Promise<Policy> {
  const read = await readPolicy(fileNamed(policy, 'The policy'));
  if (!isDatabase(read.ledger) && !existsSync(read.ledger) && !existsSync(`${read.ledger}.chain`))
    throw new Fault(
      'DATA_NOT_FOUND',
      `There is no ledger at ${read.ledger}.`,
      'The first release makes it. If there was one, it was moved or deleted: restore it before releasing anything.',
    );
  return read;
}

/**
 * Walks the chain of a policy's ledger. A chain that does not hold is told, not thrown: `ok` is false and `reason` says why.
 *
 * @example
 * const { ok, entries } = await verifyLedger('policy.yaml');
 */
export async function verifyLedger(policy: FileName, given?: LedgerOptions): Promise<VerifiedLedger> {
  return faulting(async () => {
    const options = readOptions(witnessed, given);
    const { ledger: place } = await policyWithLedger(policy);
    const ledger = await openLedger(place, options);
    return closing(ledger, async () => ({ ...(await ledger.verify()), ledger: place }));
  });
}

export interface VerifiedLedger extends Verification {
  /** Where it is. */
  readonly ledger: string;
}

/** Terms that were taken over, and those before. */
export interface AmendedTerms extends Amended {
  readonly population: string;
  readonly reason: string;
}

/**
 * Takes over the terms of a policy whose budget or ties have changed, for good. What was spent stays spent, and counts under the new terms: where it
 * exceeds their budget they are refused.
 *
 * @example
 * const { before, after } = await amendTerms('policy.yaml', { reason: 'the council raised the budget' });
 */
export async function amendTerms(policy: FileName, given: ReasonedOptions): Promise<AmendedTerms> {
  return faulting(async () => {
    const { reason, ...options } = readOptions(reasoned, given);
    const read = await policyWithLedger(policy);
    const ledger = await openLedger(read.ledger, options);
    const amended = await closing(ledger, async () => {
      const engine = await openEngine(read);
      // Ties that are read from the data decide what was lost under the new terms.
      return closing(engine, async () => {
        const { account } = await createSession({ policy: read, engine, ledger });
        return amendWith(ledger, { policy: read, account }, reason.trim());
      });
    });
    return { population: read.population, ...amended, reason: reason.trim() };
  });
}

/**
 * Copies a ledger, with its recorded answers, into one file.
 *
 * @example
 * const { head } = await backupLedger('policy.yaml', 'ledger.backup');
 */
export async function backupLedger(policy: FileName, file: FileName, given?: LedgerOptions): Promise<Backup> {
  return faulting(async () => {
    const { witness } = readOptions(witnessed, given);
    const target = fileNamed(file, 'The backup');
    const { ledger } = await policyWithLedger(policy);
    const { backupLedger: backup } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/backup.js');
    return backup(ledger, target, witnessOf(witness));
  });
}

/**
 * Brings a ledger back from a backup: recorded answers into a sound one, everything into one that is lost or damaged (which needs a reason).
 *
 * @example
 * const done = await restoreLedger('policy.yaml', 'ledger.backup');
 * if (done.kind === 'texts') console.log(done.texts);
 */
export async function restoreLedger(policy: FileName, file: FileName, given?: RestoreOptions): Promise<Restored> {
  return faulting(async () => {
    const { reason, witness } = readOptions(restoring, given);
    const source = fileNamed(file, 'The backup');
    const { ledger } = await readPolicy(fileNamed(policy, 'The policy'));
    const { restoreLedger: restore } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/backup.js');
    return restore(ledger, source, reason?.trim(), witnessOf(witness));
  });
}

/**
 * Rebuilds a damaged ledger from what is sound in it. What was spent stays spent.
 *
 * @example
 * const { entries, incomplete } = await recoverLedger('policy.yaml', { reason: 'the disk failed' });
 */
export async function recoverLedger(policy: FileName, given: ReasonedOptions): Promise<Recovery> {
  return faulting(async () => {
    const { reason, witness } = readOptions(reasoned, given);
    const { ledger } = await policyWithLedger(policy);
    const { recoverLedger: recover } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/recover.js');
    return recover(ledger, reason.trim(), witnessOf(witness));
  });
}
