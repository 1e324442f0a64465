import type { Fault } from '../../base/errors.js';
import {
  add,
  compare,
  fromNumber,
  isPositive,
  maximum,
  minimum,
  one,
  type Rational,
  rational,
  subtract,
  toNumber,
  zero,
} from '../../base/exact/rational.js';
import { type Profile, paidTogether, type Spent, spend } from '../../privacy/mechanism/profile.js';
import { columnsIn } from '../../privacy/mechanism/record-class.js';
import { everyValue, type Values } from '../../privacy/mechanism/slices.js';
import { partsOf } from '../../privacy/mechanism/together.js';
import { type Account, isClosedToGaussian, isGaussian, usedBy, usedShare } from './account.js';
import { type About, aboutEverybody, isNobody } from './by-slice.js';
import { countsForMore } from './room.js';

/**
 * The accounts that one release affects: everybody's, that of its own values,
 * and those of other values (affected-accounts.proof.md).
 */
export interface Moved {
  /** True if there is one account only: amounts follow from it exactly (remaining-budget.ts). */
  readonly alone: boolean;
  /** Largest share of the budget that a cost takes from any of them. */
  most(booked: Profile): number;
  /** True if Gaussian noise would cost one of them more than pure noise, given these costs. */
  isClosed(after: Spent): boolean;
  /** Refusal where no noise leaves each of them its share, although something remains. */
  refusal(): Fault | undefined;
}

/** Largest number of accounts that are considered. */
export const mostAccounts = 24;
/** A share larger than every budget. */
const tooMuch = 2;
/** Tolerance for rounding a share. */
const crumb = rational(1, 1_000_000_000);

export function movedBy(account: Account, spent: Spent, about: About): Moved {
  const { abouts, complete } = accountsBeside(account, spent, about);
  let before: readonly Rational[] | undefined;
  const usedBefore = () => (before ??= abouts.map((a) => usedShare(account, spent, a)));
  const isPure = spent.zcdp.perRecord.size === 0;
  /** True if a Gaussian cost makes zCDP the reading of costs that were read in pure epsilon before. */
  const changes = (booked: Profile) => booked.noise === 'zcdp' && isPure && isPositive(usedBefore().reduce(maximum, zero));
  return {
    alone: abouts.length === 1,
    most: (booked) => {
      if (changes(booked)) {
        if (!complete) return tooMuch;
        if (account.quotas && abouts.some((a, k) => isDearerInZcdp(account, spent, a, usedBefore()[k]!))) return tooMuch;
      }
      const after = spend(spent, booked);
      return Math.max(...abouts.map((a, k) => toNumber(subtract(usedShare(account, after, a), usedBefore()[k]!))));
    },
    isClosed: (after) => abouts.some((a) => isClosedToGaussian(account, after, a)),
    refusal: () => {
      const gap = abouts.map((a, k) => subtract(inZcdp(account, spent, a), usedBefore()[k]!)).reduce(maximum, zero);
      return isPure && compare(gap, crumb) > 0 ? countsForMore(account, gap) : undefined;
    },
  };
}

/** The used share by the best reading in zCDP. */
const inZcdp = (account: Account, spent: Spent, about: About): Rational =>
  usedBy(account, spent, about)
    .flatMap(({ noise, share }) => (noise === 'zcdp' ? [share] : []))
    .reduce(minimum, one);

const isDearerInZcdp = (account: Account, spent: Spent, about: About, used: Rational): boolean =>
  compare(inZcdp(account, spent, about), add(used, crumb)) > 0;

/** A budget without a delta has one price per draw, and steps with a budget of their own are entitled to it. */
const isShared = (account: Account): boolean => account.steady === undefined && account.routes.some(isGaussian);

function accountsBeside(
  account: Account,
  spent: Spent,
  about: About,
): { readonly abouts: readonly About[]; readonly complete: boolean } {
  const slicings = new Set(account.routes.flatMap((route) => route.slicings));
  if (slicings.size === 0 || !isShared(account)) return { abouts: [about], complete: true };
  const single = partsOfSomebody(account);
  const listed = new Set(account.parts?.flatMap((part) => [...part.keys()]));
  const booked = [...slicings]
    .filter((slicing) => !listed.has(slicing))
    .flatMap((slicing) => {
      const columns = columnsIn(slicing);
      return [spent.pure, spent.zcdp]
        .flatMap((profile) => partsOf(paidTogether(profile, slicing), columns.length))
        .map(({ box }): About => new Map(columns.map((column, k) => [column, valuesOf(box[k])])));
    });
  const all = [...new Map([about, aboutEverybody, ...single, ...booked].map((a) => [keyOf(a), a])).values()];
  return { abouts: all.slice(0, mostAccounts), complete: all.length <= mostAccounts };
}

/** Parts with records. Parts without records have nothing to lose and are left out. */
function partsOfSomebody(account: Account): readonly About[] {
  const known = withSomebody.get(account);
  if (known) return known;
  const isEmpty = (part: About) =>
    [...part].some(([slicing, values]) => account.routes.some((route) => isNobody(route, slicing, values)));
  const found = (account.parts ?? []).filter((part) => !isEmpty(part));
  withSomebody.set(account, found);
  return found;
}
const withSomebody = new WeakMap<Account, readonly About[]>();

const valuesOf = (range: { readonly from: number; readonly to: number } | undefined): Values => {
  if (range === undefined) return everyValue;
  return Number.isNaN(range.from) ? { ranges: [], missing: true } : { ranges: [range], missing: false };
};
const keyOf = (about: About): string =>
  JSON.stringify(
    [...about]
      .map(([slicing, { ranges, missing }]) => [slicing, ranges.map(({ from, to }) => `${from}..${to}`), missing] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Largest part of an amount that takes at most a share: all of it if that fits,
 * undefined if even the smallest takes more. `most` grows with the amount.
 */
export function amountWithin(amount: Rational, share: Rational, most: (amount: Rational) => number): Rational | undefined {
  const limit = toNumber(share) + 1e-10;
  const whole = toNumber(amount);
  const excess = (part: number): number => most(fromNumber(whole * part)) - limit;
  const high = { part: 1, excess: most(amount) - limit, weight: 1 };
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
