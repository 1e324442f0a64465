import { Fault } from '../../base/errors.js';
import { add, compare, maximum, multiply, one, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import type { PrivacyCost, SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { isOneTime } from '../../privacy/mechanism/record-class.js';
import type { Account } from './account.js';
import { admits, isCountedInFull } from './admits.js';
import { combinedParts, everySlice, partLimit, sliceSelectionOf } from './by-slice.js';
import { countedInFull, otherSourceRefusal } from './sources.js';
import { addedShare, shareOfFresh, usedShare, usedShareOfPart } from './used-share.js';

/** Limit of one analyst, in epsilon of the whole budget. It promises nothing to those in the data. */
export interface Quota {
  readonly analyst: string;
  readonly epsilon: Rational;
}

/** A cost to be reserved, and the costs of the account before and after it. */
interface AdmissionRequest {
  readonly account: Account;
  readonly requested: PrivacyCost;
  readonly quota: Quota | undefined;
  readonly after: SpentCosts;
  readonly before: SpentCosts;
  /** Costs of this analyst alone, after it. */
  readonly byAnalyst: SpentCosts;
}

/** The rules of admission, in this order: the first refusal is the one that is shown. */
const rules: readonly ((request: AdmissionRequest) => Fault | undefined)[] = [
  ({ account, after }) => otherSourceRefusal(account.source, after),
  refuseSecondPayment,
  refuseTooManyParts,
  refuseOverBudget,
  refuseOverQuota,
];

/** Admission test for Ledger.reserve: throws where the total would exceed the budget, or the analyst's own total the quota. */
export const admission =
  (account: Account, requested: PrivacyCost, quota?: Quota) =>
  (after: SpentCosts, before: SpentCosts, byAnalyst: SpentCosts): void => {
    const refusal = admissionRefusal({ account, requested, quota, after, before, byAnalyst });
    if (refusal) throw refusal;
  };

export function admissionRefusal(request: AdmissionRequest): Fault | undefined {
  for (const rule of rules) {
    const refusal = rule(request);
    if (refusal) return refusal;
  }
  return undefined;
}

function refuseSecondPayment({ after }: AdmissionRequest): Fault | undefined {
  const isPaidTwice = [...after.pure.perRecord].some(([name, times]) => isOneTime(name) && compare(times, one) > 0);
  if (!isPaidTwice) return undefined;
  return new Fault(
    'BUDGET_EXCEEDED',
    'This population has already been given what it may be given once.',
    'Its guarantee does not compose: only the very same request is answered again, from the record.',
  );
}

function refuseTooManyParts({ after, before }: AdmissionRequest): Fault | undefined {
  if (combinedParts(after) <= partLimit || combinedParts(after) <= combinedParts(before)) return undefined;
  return new Fault(
    'BUDGET_EXCEEDED',
    `What was spent would differ between more than ${partLimit} parts of the data, by combinations of public columns.`,
    'Ask about all values of one of the public columns, or about several at once: a table by them is one request.',
  );
}

/** Refusal with the figures of the requested records, or with everybody's where those do not explain it. */
function refuseOverBudget({ account, requested, after, before }: AdmissionRequest): Fault | undefined {
  if (admits(account, after)) return undefined;
  const total = toNumber(account.epsilon);
  const admittedBefore = admits(account, before);
  const readings = [sliceSelectionOf([{ sensitivity: requested.perRecord }]), everySlice].map((selection) => {
    const spent = toNumber(usedShare(account, before, selection)) * total;
    const raised = addedShare(account, after, before, selection);
    const needed = toNumber(maximum(raised, shareOfFresh(account, requested, selection))) * total;
    return { needed, spent, remaining: admittedBefore ? Math.max(0, total - spent) : 0 };
  });
  if (isCountedInFull(account, before)) {
    const { spent, remaining } = readings[1]!;
    return countedInFull(remainingText(spent, total), { spent, remaining, total });
  }
  const explains = readings.find((each) => !admittedBefore || each.needed > each.remaining);
  const { needed, ...figures } = explains ?? readings[0]!;
  const why = explains
    ? spentText(needed, figures.spent, total)
    : `together with earlier costs it exceeds the budget, ${remainingText(figures.spent, total)}`;
  return new Fault(
    'BUDGET_EXCEEDED',
    `The budget does not allow this: ${admittedBefore ? '' : 'it was exceeded before, '}${why}.`,
    'Ask for less with --epsilon, or for fewer columns; "fugu ledger POLICY" lists what was spent.',
    { details: { ...(explains && { asked: needed }), ...figures, total } },
  );
}

const quotaTolerance = rational(1, 1_000_000_000);
function refuseOverQuota({ account, quota, after, before, byAnalyst }: AdmissionRequest): Fault | undefined {
  if (!quota) return undefined;
  const { analyst, epsilon } = quota;
  const own = multiply(usedShareOfPart(account, byAnalyst, after), account.epsilon);
  // A quota divides the budget and protects nobody: rounding errors beyond it are admitted.
  if (compare(own, add(epsilon, multiply(account.epsilon, quotaTolerance))) <= 0) return undefined;
  const needed = toNumber(multiply(addedShare(account, after, before), account.epsilon));
  const limit = toNumber(epsilon);
  const spent = Math.max(0, toNumber(own) - needed);
  return new Fault(
    'BUDGET_EXCEEDED',
    `The quota of ${analyst} does not allow this: ${spentText(needed, spent, limit)}.`,
    'Ask for less with --epsilon, or have the quota raised: budget.analysts in the policy.',
    {
      details: {
        asked: needed,
        spent,
        remaining: Math.max(0, limit - spent),
        total: toNumber(account.epsilon),
        quota: limit,
        analyst,
      },
    },
  );
}

const spentText = (needed: number, spent: number, total: number): string =>
  `requested ${short(needed)}, ${remainingText(spent, total)}`;
/** The remainder is zero where spent and total agree in all digits that are shown. */
function remainingText(spent: number, total: number): string {
  const remaining = short(spent) === short(total) ? 0 : Math.max(0, total - spent);
  return `spent ${short(spent)} of ${short(total)}, remaining ${short(remaining)} (in epsilon, ties included)`;
}
const short = (x: number) => Number(x.toPrecision(4)).toString();
