import { changedFault, Fault } from '../../base/errors.js';
import { parseRational, toNumber } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import { nothingSpent, type SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { isDataPart } from '../../privacy/mechanism/record-class.js';
import type { Account as PrivacyAccount } from '../accountant/account.js';
import { admits } from '../accountant/admits.js';
import { brokenBeliefs, keptAt, leastAdmittingEpsilon } from '../accountant/broken-beliefs.js';
import { type BudgetState, budgetState, privacyLossBound } from '../accountant/budget-state.js';
import { termsOf } from '../accountant/open-account.js';
import { withOthers } from '../accountant/others.js';
import { otherSourceRefusal } from '../accountant/sources.js';
import type { Ledger, LedgerAccount, SpendEntry } from '../ledger/ledger.js';
import { explainsExactness, namesSecretColumns, nowSecret, rowsFact } from './public-facts.js';
import { refuseUnready } from './ready.js';

export interface Amended {
  readonly before: string | null;
  readonly after: string;
  /** Under the new terms. */
  readonly budget: BudgetState;
  /** Upper bound on the privacy loss of one record so far, under the new terms. */
  readonly privacyLoss: number;
}

/** New terms of a population: a policy, and its account over the ties of its data. */
export interface NewTerms {
  readonly policy: Policy;
  readonly account: PrivacyAccount;
}

/**
 * Secrets to which a cost carries over when the secret changes. A cost per row bounds neither all rows of a person nor the costs of
 * single answers, and a cost per tuple bounds no row. Nor does a cost per person bound a row: one that names another person changes two.
 */
const covered: Readonly<Record<string, readonly string[]>> = {
  answer: ['row', 'step'],
  row: ['step'],
  step: ['row'],
};

/**
 * Replaces the terms of an account for good. Budget and ties may change; the secret may not change once costs were spent,
 * nor may facts released at no cost become secret. Terms that are already broken are refused (amend.proof.md).
 */
export async function amendAccount(ledger: Ledger, { policy, account }: NewTerms, reason: string): Promise<Amended> {
  refuseUnready(policy);
  const terms = termsOf(policy);
  const { ok, reason: damage } = await ledger.verify();
  // Facts released at no cost are read from the entries, so the whole chain must verify.
  if (!ok)
    throw new Fault('LEDGER_CORRUPT', `The ledger does not verify: ${damage}.`, 'Restore it from a backup; nothing was changed.');
  let before: string | null = null;
  let spent = nothingSpent;
  await ledger.amend(policy.population, terms, reason, (known, entries) => {
    before = known.terms.summary;
    spent = withOthers(account, known.spent);
    refuseForGood(known, entries, { policy, account });
  });
  return {
    before,
    after: terms.summary,
    budget: budgetState(account, spent),
    privacyLoss: privacyLossBound(account, spent),
  };
}

/** Terms that an account can never take over. */
function refuseForGood({ terms, spent }: LedgerAccount, entries: readonly SpendEntry[], { policy, account }: NewTerms): void {
  if (entries.length > 0) refuseOtherSecret(terms.summary, termsOf(policy).summary);
  refuseForgotten(spent, policy);
  refuseGivenAway(entries, policy);
  refuseBroken(withOthers(account, spent), { policy, account });
}

/** A promise must hold when it is made: earlier costs count under the new terms. */
function refuseBroken(spent: SpentCosts, { policy, account }: NewTerms): void {
  if (admits(account, spent)) return;
  const elsewhere = otherSourceRefusal(account.source, spent);
  if (elsewhere) throw elsewhere;
  const epsilon = privacyLossBound(account, spent);
  const total = toNumber(account.epsilon);
  if (!Number.isFinite(epsilon)) throw unbounded(total);
  if (policy.budget.belief) throw brokenBelief(spent, { policy, account });
  throw new Fault(
    'BUDGET_EXCEEDED',
    `These terms are broken already: under them one record may have lost epsilon ${shortUp(epsilon)} so far, and they promise ${short(total)}.`,
    `Raise epsilon to ${leastEpsilon(epsilon, spent, { policy, account })} or more in these terms, or keep the terms as they were.`,
    { details: { total, lost: epsilon } },
  );
}

const unbounded = (total: number): Fault =>
  new Fault(
    'BUDGET_EXCEEDED',
    'These terms are broken already: under them nothing bounds what one record has lost so far.',
    'Keep the terms as they were: what was spent needs their delta, attacker or ties.',
    { details: { total } },
  );

/** The same in the terms of a belief budget. */
function brokenBelief(spent: SpentCosts, { policy, account }: NewTerms): Fault {
  const total = toNumber(account.epsilon);
  const lost = leastAdmittingEpsilon(policy, account, spent);
  if (!lost) return unbounded(total);
  const { message, hint } = brokenBeliefs(policy.budget, lost);
  return new Fault('BUDGET_EXCEEDED', message, hint, { details: { total, lost: toNumber(lost) } });
}
const short = (x: number): string => Number(x.toPrecision(4)).toString();
/** Four digits, rounded up: a bound stays one. */
function shortUp(x: number): string {
  const near = Number(x.toPrecision(4));
  return short(near >= x ? near : above(near));
}
/** The next larger number of four digits. */
const above = (x: number): number => Number((x + 10 ** (Math.floor(Math.log10(x)) - 3)).toPrecision(4));

/** Least epsilon of four digits that is admitted. Capacities are rounded down: 1.1 need not admit a loss of 1.1. */
function leastEpsilon(lost: number, spent: SpentCosts, { policy, account }: NewTerms): string {
  const isAccepted = keptAt(policy, account, spent);
  const next = Number(shortUp(lost));
  const near = [next, above(next)].map(short).find((text) => isAccepted(parseRational(text)));
  if (near !== undefined) return near;
  const found = leastAdmittingEpsilon(policy, account, spent);
  return shortUp(found === undefined ? lost : toNumber(found));
}

/** The ledger's mismatch fault with a hint that works: amending is suggested only where it would be admitted. */
export async function withWayOut(error: unknown, ledger: Ledger, terms: NewTerms): Promise<unknown> {
  const { policy } = terms;
  if (!(error instanceof Fault) || error.code !== 'LEDGER_MISMATCH') return error;
  const account = await ledger.account(policy.population);
  if (!account || account.terms.digest === termsOf(policy).digest) return error;
  const refused = whyNot(account, await ledger.entries(policy.population), terms);
  if (!refused) return error;
  return changedFault(error, { message: `${error.message} ${refused.message}`, hint: hintOf(refused) });
}

const hintOf = (refused: Fault): string => (refused.code === 'BUDGET_EXCEEDED' ? refused.hint : anotherPopulation);

function whyNot(...[account, entries, terms]: Parameters<typeof refuseForGood>): Fault | undefined {
  try {
    refuseForGood(account, entries, terms);
    return undefined;
  } catch (refused) {
    if (refused instanceof Fault) return refused;
    throw refused;
  }
}

export async function canAmend(ledger: Ledger, terms: NewTerms): Promise<boolean> {
  const { population } = terms.policy;
  const account = await ledger.account(population);
  return account !== undefined && whyNot(account, await ledger.entries(population), terms) === undefined;
}

const anotherPopulation =
  'Use the policy the account was opened with, or write "population: NAME" into this one: a budget of its own, and what is promised about both adds up.';

function refuseOtherSecret(before: string, after: string): void {
  const [was, now] = [secretIn(before), secretIn(after)];
  if (was !== now && !covered[was.split(' ')[0]!]?.includes(now))
    throw new Fault(
      'LEDGER_MISMATCH',
      `What this population has spent was counted for the secret "${was}"; it cannot be counted for "${now}" afterwards.`,
      'Keep the secret and its unit, or name another population for the new one.',
    );
}

/** Costs on a relation are kept under its name: under another name the same tuples would have a fresh budget. */
function refuseForgotten({ pure, zcdp }: SpentCosts, policy: Policy): void {
  if (policy.protect.secret !== 'edge') return;
  const classes = [...pure.perRecord.keys(), ...zcdp.perRecord.keys()].filter(isDataPart);
  const gone = classes.find((name) => policy.relations.get(name)?.private !== true);
  if (gone !== undefined)
    throw new Fault(
      'LEDGER_MISMATCH',
      `This population has spent on the relation "${gone}", which these terms do not declare private.`,
      'Keep a private relation of that name for the same table; others may be added.',
    );
}

function refuseGivenAway(entries: readonly SpendEntry[], policy: Policy): void {
  for (const entry of entries) {
    // An entry without a cost released facts even if it lists none; along pairs, and under known totals, it lists them.
    const silent = entry.profile.perRecord.size === 0 && !entry.relied.some(explainsExactness);
    const relied = silent ? [rowsFact, ...entry.relied] : entry.relied;
    const [secret] = nowSecret(relied, policy);
    if (secret !== undefined && namesSecretColumns(secret))
      throw new Fault(
        'LEDGER_MISMATCH',
        `Entry ${entry.sequence} is a release by others, charged for every column that was secret then; these terms make another column secret, and nothing was charged for it.`,
        'Keep the columns that are secret, or name another population.',
        { details: { entry: entry.sequence } },
      );
    if (secret !== undefined)
      throw new Fault(
        'LEDGER_MISMATCH',
        `Entry ${entry.sequence} was released at no cost because it was known to everybody (${secret}); these terms make that a secret, which it no longer is.`,
        'Keep what was public public, and the secret that does not cover it; or name another population.',
        { details: { entry: entry.sequence } },
      );
  }
}

/** The summary is part of the chain, so this is the secret the account was opened with. */
const secretIn = (summary: string): string => /secret (.*), adversary /.exec(summary)?.[1] ?? summary;
