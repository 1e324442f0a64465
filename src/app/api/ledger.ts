import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { fromNumber, parseRational, toNumber } from '../../base/exact/rational.js';
import { existsSync } from '../../base/platform/files.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { isDatabase } from '../../policy/address.js';
import { betweenValues, isAddRemove, neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import {
  nothingSpent,
  type PrivacyCost,
  type SpentCosts,
  type StoredCost,
  spend,
  toStored,
} from '../../privacy/mechanism/privacy-cost.js';
import { isOfRecords, type RecordClassKind, recordClassKind, storedClass } from '../../privacy/mechanism/record-class.js';
import type { Account } from '../../release/accountant/account.js';
import { admits, isCountedInFull } from '../../release/accountant/admits.js';
import { type BudgetState, budgetState, privacyLossBound } from '../../release/accountant/budget-state.js';
import { termsOf } from '../../release/accountant/open-account.js';
import { otherSourceRefusal } from '../../release/accountant/sources.js';
import { usedShareOfPart } from '../../release/accountant/used-share.js';
import type { SpendEntry, Verification } from '../../release/ledger/ledger.js';
import { openLedger, witnessOf } from '../../release/ledger/open.js';
import type { Backup, Restored } from '../../release/ledger/rescue/backup.js';
import type { Recovery } from '../../release/ledger/rescue/recover.js';
import { type Amended, amendAccount as amendWith, canAmend } from '../../release/session/amend.js';
import { enteredIn, isEntered } from '../../release/session/entered-key.js';
import { type PartUse, spentParts } from '../../release/session/parts.js';
import { type QuotaUse, quotaUses } from '../../release/session/quota.js';
import { createSession } from '../../release/session/session.js';
import { type FileName, fileNamed, parseOptions, reason, withFaults } from './input.js';
import { type OpenHandles, withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';

/** One ledger entry, as plain data. */
export interface LedgerEntry {
  readonly sequence: number;
  readonly at: string;
  readonly analyst: string;
  /** Self-chosen name of the analyst; never relied on. */
  readonly as?: string;
  readonly label: string;
  /**
   * Budget used by this entry alone, ties included, under the current terms; absent where it paid for nothing. The parts need not
   * sum to the total.
   */
  readonly epsilon?: number;
  readonly profile: StoredCost;
  readonly relied: readonly string[];
  /** True if its answer is recorded and can be returned again. */
  readonly settled: boolean;
  /** Answered, but the recorded text is lost: the same request pays again. */
  readonly textLost?: true;
  /** True for a cost of another publisher, entered by hand or by receipt. */
  readonly entered?: true;
  readonly hash: string;
}

/** Entries as plain data; equal costs are computed once, since the same request often has the same cost. */
export function entriesOf(entries: readonly SpendEntry[], account: Account, all: SpentCosts): readonly LedgerEntry[] {
  const known = new Map<string, number>();
  const total = toNumber(account.epsilon);
  return entries.map((e) => {
    const profile = JSON.stringify(toStored(e.profile));
    const epsilon = known.get(profile) ?? toNumber(usedShareOfPart(account, spend(nothingSpent, e.profile), all)) * total;
    known.set(profile, epsilon);
    return { ...entryOf(e), ...(e.profile.perRecord.size > 0 && { epsilon }) };
  });
}

const entryOf = (e: SpendEntry): LedgerEntry => ({
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

/** Cost of an entry: the worst over its record classes, in epsilon or rho before ties. */
export interface EntryCost {
  readonly unit: 'epsilon' | 'rho';
  /** Undefined for a one-time payment outside the budget, and where nothing was paid. */
  readonly worst?: number;
  /** Cost between two values of a declared pair, for entries whose cost is stated so. */
  readonly along?: number;
  readonly classes: number;
  readonly apart: boolean;
}

export function costOf({ profile: { noise, perRecord } }: LedgerEntry): EntryCost {
  const all = Object.entries(perRecord);
  const listed = all.filter(([name]) => isOfRecords(storedClass(name))).map(([, cost]) => toNumber(parseRational(cost)));
  const unit = noise === 'pure' ? 'epsilon' : 'rho';
  const worst = listed.reduce((a, b) => Math.max(a, b), 0);
  const ofKind = (kind: RecordClassKind) => all.filter(([name]) => recordClassKind(storedClass(name)) === kind);
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

/** Spent and remaining budget of a population, ties included. */
export interface Spending {
  readonly population: string;
  readonly ledger: string;
  /** Terms that its account was opened with; null before the first release. */
  readonly terms: string | null;
  /** True if entries that were paid from it may be lost: nothing is released until the terms are amended. */
  readonly closed?: true;
  /** True if this policy declares those terms. */
  readonly agrees: boolean;
  /** If it declares others: true if `amendTerms` could apply them. */
  readonly amendable?: boolean;
  readonly policyTerms: string;
  readonly budget: BudgetState;
  /** Epsilon of it that others have spent or may spend: entered costs, and the part set aside for unreported spending. */
  readonly others?: { readonly entered: number; readonly setAside: number };
  /** True if more than the budget was spent: nothing can be released. */
  readonly over?: true;
  /** Upper bound on the privacy loss of one record so far; with `neighbours: add-remove`, on whether it is there. */
  readonly gained: number;
  /** Reason why nothing bounds the loss: ties are declared, and part of the budget was spent on other data. */
  readonly elsewhere?: string;
  /** With pairs of values, the bound above holds for two values that form a pair. */
  readonly pairs?: true;
  /** The same bound for its values, where that is larger. */
  readonly gainedBetweenValues?: number;
  /** Spent and remaining budget of slices of a public column, if releases covered single values of one. */
  readonly parts?: readonly PartUse[];
  readonly quotas?: readonly QuotaUse[];
}

export async function spendingOf({ policy, session, ledger }: OpenHandles): Promise<Spending> {
  const known = await ledger.account(policy.population);
  const spent = await session.spent();
  const total = toNumber(session.account.epsilon);
  const parts = spentParts(policy, session.account, spent);
  const agrees = known === undefined || known.terms.digest === policy.digest;
  const entered = await enteredIn(ledger, policy.population);
  const alone = (profiles: readonly PrivacyCost[]) =>
    profiles.length === 0 ? 0 : toNumber(usedShareOfPart(session.account, profiles.reduce(spend, nothingSpent), spent)) * total;
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
    ...(!admits(session.account, spent) &&
      !otherSourceRefusal(session.account.source, spent) &&
      !isCountedInFull(session.account, spent) && { over: true }),
    ...gainedFields(policy, privacyLossBound(session.account, spent)),
    ...elsewhereIn(session.account, spent),
    ...(policy.protect.pairs && { pairs: true }),
    ...(parts.length > 0 && { parts }),
    ...(policy.budget.analysts && {
      quotas: await quotaUses(policy, session.account, ledger),
    }),
  };
}

function elsewhereIn({ source }: Account, spent: SpentCosts): Pick<Spending, 'elsewhere'> {
  const refused = otherSourceRefusal(source, spent);
  return refused ? { elsewhere: refused.message } : {};
}

function gainedFields(policy: Policy, loss: number): Pick<Spending, 'gained' | 'gainedBetweenValues'> {
  if (!isAddRemove(policy)) return { gained: loss };
  const values = Number.isFinite(loss) ? toNumber(betweenValues(neighboursOf(policy), fromNumber(loss))) : loss;
  return { gained: loss, gainedBetweenValues: values };
}

const witness = z.string().optional();
const witnessed = defineRequest('LedgerOptions', {
  witness: field(witness, 'Program that remembers the head of the chain elsewhere; by default the one that FUGU_WITNESS names.'),
});
export type LedgerOptions = z.input<typeof witnessed>;
export const reasoned = defineRequest('ReasonedOptions', {
  reason: field(reason, "Reason; permanent in the ledger's chain."),
  witness,
});
export type ReasonedOptions = z.input<typeof reasoned>;
const restoring = defineRequest('RestoreOptions', { reason: reason.optional(), witness });
export type RestoreOptions = z.input<typeof restoring>;

/** Refuses a missing ledger: reading must not create an empty one where one was expected. */
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
 * Verifies the chain of a policy's ledger. A broken chain is reported, not thrown: `ok` is false, and `reason` explains it.
 *
 * @example
 * const { ok, entries } = await verifyLedger('policy.yaml');
 */
export async function verifyLedger(policy: FileName, given?: LedgerOptions): Promise<VerifiedLedger> {
  return withFaults(async () => {
    const options = parseOptions(witnessed, given);
    const { ledger: place } = await policyWithLedger(policy);
    const ledger = await openLedger(place, options);
    return withClosing(ledger, async () => ({ ...(await ledger.verify()), ledger: place }));
  });
}

export interface VerifiedLedger extends Verification {
  /** Path or address of the ledger. */
  readonly ledger: string;
}

/** Amended terms, and those before. */
export interface AmendedTerms extends Amended {
  readonly population: string;
  readonly reason: string;
}

/**
 * Applies the terms of a policy whose budget or ties have changed, permanently. Spent budget stays spent and counts under the new
 * terms: if it exceeds their budget, they are refused.
 *
 * @example
 * const { before, after } = await amendTerms('policy.yaml', { reason: 'the council raised the budget' });
 */
export async function amendTerms(policy: FileName, given: ReasonedOptions): Promise<AmendedTerms> {
  return withFaults(async () => {
    const { reason, ...options } = parseOptions(reasoned, given);
    const read = await policyWithLedger(policy);
    const ledger = await openLedger(read.ledger, options);
    const amended = await withClosing(ledger, async () => {
      const engine = await openEngine(read);
      // Ties that are read from the data determine the privacy loss under the new terms.
      return withClosing(engine, async () => {
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
  return withFaults(async () => {
    const { witness } = parseOptions(witnessed, given);
    const target = fileNamed(file, 'The backup');
    const { ledger } = await policyWithLedger(policy);
    const { backupStorage: backup } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/backup.js');
    return backup(ledger, target, witnessOf(witness));
  });
}

/**
 * Restores a ledger from a backup: recorded answers into a sound one, everything into one that is lost or damaged (which needs a
 * reason).
 *
 * @example
 * const done = await restoreLedger('policy.yaml', 'ledger.backup');
 * if (done.kind === 'texts') console.log(done.texts);
 */
export async function restoreLedger(policy: FileName, file: FileName, given?: RestoreOptions): Promise<Restored> {
  return withFaults(async () => {
    const { reason, witness } = parseOptions(restoring, given);
    const source = fileNamed(file, 'The backup');
    const { ledger } = await readPolicy(fileNamed(policy, 'The policy'));
    const { restoreStorage: restore } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/backup.js');
    return restore(ledger, source, reason?.trim(), witnessOf(witness));
  });
}

/**
 * Rebuilds a damaged ledger from its sound entries. Spent budget stays spent.
 *
 * @example
 * const { entries, incomplete } = await recoverLedger('policy.yaml', { reason: 'the disk failed' });
 */
export async function recoverLedger(policy: FileName, given: ReasonedOptions): Promise<Recovery> {
  return withFaults(async () => {
    const { reason, witness } = parseOptions(reasoned, given);
    const { ledger } = await policyWithLedger(policy);
    const { recoverStorage: recover } = isDatabase(ledger)
      ? await import('../../release/ledger/postgres/rescue.js')
      : await import('../../release/ledger/rescue/recover.js');
    return recover(ledger, reason.trim(), witnessOf(witness));
  });
}
