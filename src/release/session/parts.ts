import { toNumber } from '../../base/exact/rational.js';
import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import { codesOf } from '../../policy/code.js';
import type { Policy } from '../../policy/policy.js';
import { costBySlice, hasCostBySlice, type SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { coversAllValues, type Range, sortRanges, type ValueSet } from '../../privacy/mechanism/slices.js';
import type { Account, StepBudget } from '../accountant/account.js';
import { representativeValues, type SliceSelection } from '../accountant/by-slice.js';
import { usedShare } from '../accountant/used-share.js';

/**
 * Spent and remaining budget of some values of a public column, in epsilon of the policy, ties included:
 * for a request about all of these values and no others.
 */
export interface PartUse {
  /** In words: "week 3", "week 3 to 5", "region north or south". */
  readonly part: string;
  readonly column: string;
  /** Bounds of an integer range, both included; numbers beyond the last declared one count as that one. */
  readonly from?: number;
  readonly to?: number;
  /** Of codes; "(missing)" for records that have none. */
  readonly values?: readonly string[];
  readonly spent: number;
  readonly remaining: number;
}

/** The part of the data that a request is about, for every public column it restricts. */
export function requestedParts(
  policy: Policy,
  account: Account,
  spent: SpentCosts,
  selection: SliceSelection,
): readonly PartUse[] {
  const each = slicingsOf(policy).flatMap((by) => {
    const values = selection.get(by.slicing);
    return values && !coversAllValues(values) ? [usageOf(account, spent, by, values)] : [];
  });
  if (each.length < 2) return each;
  // A request that restricts two columns is about the records with all of these values.
  const part = each.map((own) => own.part).join(', ');
  const column = each.map((own) => own.column).join(' and ');
  return [...each, { part, column, values: [part], ...remainingFor(account, spent, selection) }];
}

export const stepBudgetSummary = (
  policy: Policy,
  { slicing, each }: StepBudget,
): { readonly column: string; readonly each: number } => ({
  column: slicingsOf(policy).find((by) => by.slicing === slicing)!.column.name,
  each: toNumber(each),
});

/** Largest number of parts of one column that are shown, the latest ones: each needs a computation over the ties. */
const mostShown = 60;

/** Spent and remaining budget by part, for every public column with recorded costs. */
export function spentParts(policy: Policy, account: Account, spent: SpentCosts): readonly PartUse[] {
  return slicingsOf(policy)
    .filter(({ slicing }) => hasCostBySlice(spent.pure, slicing) || hasCostBySlice(spent.zcdp, slicing))
    .flatMap((by) =>
      piecesOf(spent, by)
        .slice(-mostShown)
        .map((values) => usageOf(account, spent, by, values)),
    );
}

/** Ranges of declared values with equal costs; codes one by one. */
function piecesOf({ pure, zcdp }: SpentCosts, { slicing, column, first, last }: SlicingColumn): readonly ValueSet[] {
  if (column.type === 'category')
    return [...codesOf(column).map((_, k) => ({ ranges: [{ from: k, to: k }], missing: false })), { ranges: [], missing: true }];
  const runs = [pure, zcdp].flatMap((privacyCost) => costBySlice(privacyCost, slicing).runs);
  const starts = representativeValues([runs])
    .map((v) => Math.max(v, first))
    .filter((v) => v >= first && v <= last);
  const sorted = [...new Set(starts)].sort((a, b) => a - b);
  return sorted.map((from, k) => ({
    ranges: [{ from, to: k + 1 < sorted.length ? sorted[k + 1]! - 1 : Number.POSITIVE_INFINITY }],
    missing: false,
  }));
}

function usageOf(account: Account, spent: SpentCosts, by: SlicingColumn, values: ValueSet): PartUse {
  const part = { column: by.column.name, ...named(by, values) };
  return { part: partWords(part), ...part, ...remainingFor(account, spent, new Map([[by.slicing, values]])) };
}

function remainingFor(account: Account, spent: SpentCosts, selection: SliceSelection): Pick<PartUse, 'spent' | 'remaining'> {
  const total = toNumber(account.epsilon);
  const used = Math.min(1, toNumber(usedShare(account, spent, selection))) * total;
  return { spent: used, remaining: total - used };
}

function named({ column, first, last }: SlicingColumn, { ranges, missing }: ValueSet): Pick<PartUse, 'from' | 'to' | 'values'> {
  const declared = ({ from, to }: Range) => ({ from: Math.max(from, first), to: Math.min(to, last) });
  const own = sortRanges(ranges).map(declared);
  if (column.type !== 'category' && own.length === 1 && !missing) return own[0]!;
  const codes = column.type === 'category' ? codesOf(column) : undefined;
  const names = codes
    ? codes.filter((_, k) => own.some(({ from, to }) => from <= k && k <= to))
    : own.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`));
  return { values: [...names, ...(missing ? ['(missing)'] : [])] };
}

function partWords({ column, from, to, values }: Omit<PartUse, 'part' | 'spent' | 'remaining'>): string {
  const list = values ?? [from === to ? `${from}` : `${from} to ${to}`];
  return `${column} ${list.length > 6 ? `${list.slice(0, 5).join(', ')} and ${list.length - 5} others` : list.join(' or ')}`;
}
