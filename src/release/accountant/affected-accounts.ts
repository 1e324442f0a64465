import { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  fromNumber,
  isPositive,
  maximum,
  minimum,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  zero,
} from '../../base/exact/rational.js';
import { costBoxes } from '../../privacy/mechanism/joint-costs.js';
import { costBySlices, type PrivacyCost, type SpentCosts, spend } from '../../privacy/mechanism/privacy-cost.js';
import { columnsIn } from '../../privacy/mechanism/record-class.js';
import { allValues, type ValueSet } from '../../privacy/mechanism/slices.js';
import { type Account, isGaussian, isPure, type LeakageRoute } from './account.js';
import { everySlice, hasNoRecords, type SliceSelection } from './by-slice.js';
import { accountUsages, isClosedToGaussian, usedShare } from './used-share.js';

/** The accounts that one release affects: everybody's, of its own values, of other values (affected-accounts.proof.md). */
export interface AffectedAccounts {
  /** True if there is one account only: amounts follow from it exactly (remaining-budget.ts). */
  readonly isSingle: boolean;
  /** Largest share of the budget that a cost takes from any of them. */
  largestShare(reserved: PrivacyCost): number;
  /** True if Gaussian noise would cost one of them more than pure noise, given these costs. */
  isClosed(after: SpentCosts): boolean;
}

export const mostAccounts = 24;
/** A share larger than every budget. */
const tooMuch = 2;
/** Tolerance for rounding a share. */
const roundingTolerance = rational(1, 1_000_000_000);

export function affectedAccounts(account: Account, spent: SpentCosts, selection: SliceSelection): AffectedAccounts {
  const { selections, complete } = listAccounts(account, spent, selection);
  let before: readonly Rational[] | undefined;
  const usedBefore = () => (before ??= selections.map((a) => usedShare(account, spent, a)));
  /** True if a Gaussian cost makes zCDP the reading of costs that were read in pure epsilon before. */
  const switchesNoise = (reserved: PrivacyCost) => reserved.noise === 'zcdp' && isPure(spent) && usedBefore().some(isPositive);
  return {
    isSingle: selections.length === 1,
    largestShare: (reserved) => {
      if (switchesNoise(reserved)) {
        if (!complete) return tooMuch;
        if (account.quotas && selections.some((a, k) => isDearerInZcdp(account, spent, a, usedBefore()[k]!))) return tooMuch;
      }
      const after = spend(spent, reserved);
      return Math.max(...selections.map((a, k) => toNumber(subtract(usedShare(account, after, a), usedBefore()[k]!))));
    },
    isClosed: (after) => selections.some((a) => isClosedToGaussian(account, after, a)),
  };
}

/**
 * Reason why no noise can be offered under these routes, although something remains; undefined where nothing does.
 * Earlier releases then count for more beside this request, or would move the quotas they were paid from.
 */
export const besideRefusal = (account: Account, { spent, before = spent, ...request }: BesideRequest): Fault | undefined =>
  routeSwitchRefusal(account, spent, request) ??
  noiseSwitchRefusal(account, before, request.selection) ??
  changesQuotas(account, spent, request.selection);

interface BesideRequest {
  readonly spent: SpentCosts;
  /** The costs that the amounts were found beside, where those on other data are left out. */
  readonly before?: SpentCosts;
  readonly routes: readonly LeakageRoute[];
  readonly selection: SliceSelection;
}

/** Covered only by other routes, under which earlier releases cost more than the used share shows. */
function routeSwitchRefusal(
  account: Account,
  spent: SpentCosts,
  { routes, selection }: Pick<BesideRequest, 'routes' | 'selection'>,
): Fault | undefined {
  const used = usedShare(account, spent, selection);
  const [least] = accountUsages(account, spent, selection)
    .filter(({ route }) => routes.includes(route))
    .map(({ share }) => share)
    .sort(compare);
  return least && compare(least, used) > 0 ? recountRefusal(account, subtract(least, used)) : undefined;
}

/** No noise leaves each affected account its share: earlier pure noise would be read in zCDP. */
function noiseSwitchRefusal(account: Account, spent: SpentCosts, selection: SliceSelection): Fault | undefined {
  if (!isPure(spent)) return undefined;
  const gap = listAccounts(account, spent, selection)
    .selections.map((a) => subtract(usedShareInZcdp(account, spent, a), usedShare(account, spent, a)))
    .reduce(maximum, zero);
  return compare(gap, roundingTolerance) > 0 ? recountRefusal(account, gap) : undefined;
}

/** Under quotas the amount would make another reading of the account the smallest. */
function changesQuotas(account: Account, spent: SpentCosts, selection: SliceSelection): Fault | undefined {
  if (!account.quotas || compare(usedShare(account, spent, selection), one) >= 0) return undefined;
  return new Fault(
    'BUDGET_EXCEEDED',
    'Beside this question earlier answers would count for other amounts of the quotas they were paid from.',
    'Ask with a smaller --epsilon; larger ones need a budget without quotas (budget.analysts in the policy).',
  );
}

/** Another reading of earlier releases alone takes this share. */
function recountRefusal(account: Account, share: Rational): Fault {
  const more = Number(toNumber(multiply(share, account.epsilon)).toPrecision(4));
  return new Fault(
    'BUDGET_EXCEEDED',
    `Earlier releases count for more beside this question: that alone takes epsilon ${more} of the budget.`,
    `Ask for it with an --epsilon above ${more}, or ask for something of the kind that was released before.`,
  );
}

/** The used share by the best reading in zCDP. */
const usedShareInZcdp = (account: Account, spent: SpentCosts, selection: SliceSelection): Rational =>
  accountUsages(account, spent, selection)
    .flatMap(({ noise, share }) => (noise === 'zcdp' ? [share] : []))
    .reduce(minimum, one);

const isDearerInZcdp = (account: Account, spent: SpentCosts, selection: SliceSelection, used: Rational): boolean =>
  compare(usedShareInZcdp(account, spent, selection), add(used, roundingTolerance)) > 0;

/** A budget without a delta has one price per draw, and steps with a budget of their own are entitled to it. */
const hasSharedBudget = (account: Account): boolean => account.stepBudget === undefined && account.routes.some(isGaussian);

function listAccounts(
  account: Account,
  spent: SpentCosts,
  selection: SliceSelection,
): { readonly selections: readonly SliceSelection[]; readonly complete: boolean } {
  const slicings = new Set(account.routes.flatMap((route) => route.slicings));
  if (slicings.size === 0 || !hasSharedBudget(account)) return { selections: [selection], complete: true };
  const single = partsWithRecords(account);
  const listed = new Set(account.parts?.flatMap((part) => [...part.keys()]));
  const reserved = [...slicings]
    .filter((slicing) => !listed.has(slicing))
    .flatMap((slicing) => {
      const columns = columnsIn(slicing);
      return [spent.pure, spent.zcdp]
        .flatMap((privacyCost) => costBoxes(costBySlices(privacyCost, slicing), columns.length))
        .map(({ box }): SliceSelection => new Map(columns.map((column, k) => [column, valuesOf(box[k])])));
    });
  const all = [...new Map([selection, everySlice, ...single, ...reserved].map((a) => [keyOf(a), a])).values()];
  return { selections: all.slice(0, mostAccounts), complete: all.length <= mostAccounts };
}

/** Parts with records. Parts without records have nothing to lose and are left out. */
function partsWithRecords(account: Account): readonly SliceSelection[] {
  const known = occupiedParts.get(account);
  if (known) return known;
  const isEmpty = (part: SliceSelection) =>
    [...part].some(([slicing, values]) => account.routes.some((route) => hasNoRecords(route, slicing, values)));
  const found = (account.parts ?? []).filter((part) => !isEmpty(part));
  occupiedParts.set(account, found);
  return found;
}
const occupiedParts = new WeakMap<Account, readonly SliceSelection[]>();

const valuesOf = (range: { readonly from: number; readonly to: number } | undefined): ValueSet => {
  if (range === undefined) return allValues;
  return Number.isNaN(range.from) ? { ranges: [], missing: true } : { ranges: [range], missing: false };
};
const keyOf = (selection: SliceSelection): string =>
  JSON.stringify(
    [...selection]
      .map(([slicing, { ranges, missing }]) => [slicing, ranges.map(({ from, to }) => `${from}..${to}`), missing] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Largest part of an amount that takes at most a share; undefined if even the smallest takes more. */
export function amountWithin(amount: Rational, share: Rational, shareTaken: (amount: Rational) => number): Rational | undefined {
  const limit = toNumber(share) + 1e-10;
  const whole = toNumber(amount);
  const excess = (part: number): number => shareTaken(fromNumber(whole * part)) - limit;
  const high = { part: 1, excess: shareTaken(amount) - limit, weight: 1 };
  if (high.excess <= 0) return amount;
  const low = { part: 2 ** -24, excess: excess(2 ** -24), weight: 1 };
  if (low.excess > 0) return undefined;
  // Regula falsi; the weight of an end that stays twice is halved, so that neither stays for long.
  for (let k = 0; k < 60 && low.excess < -1e-9 && high.part - low.part > 1e-15; k++) {
    const [below, above] = [low.excess * low.weight, high.excess * high.weight];
    const between = (low.part * above - high.part * below) / (above - below);
    const part = between > low.part && between < high.part ? between : (low.part + high.part) / 2;
    const found = excess(part);
    const [moves, stays] = found > 0 ? [high, low] : [low, high];
    stays.weight = moves.weight === 1 && k > 0 ? stays.weight / 2 : 1;
    Object.assign(moves, { part, excess: found, weight: 1 });
  }
  return fromNumber(whole * low.part);
}
