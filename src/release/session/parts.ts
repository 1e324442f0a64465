import { toNumber } from '../../base/exact/rational.js';
import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import { codesOf } from '../../policy/code.js';
import type { Policy } from '../../policy/policy.js';
import { isBySlice, paidBySlice, type Spent } from '../../privacy/mechanism/profile.js';
import { inOrder, isEverything, type Range, type Values } from '../../privacy/mechanism/slices.js';
import { type Account, type SteadySpending, usedShare } from '../accountant/account.js';
import { type About, kinds } from '../accountant/by-slice.js';

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
export function partsAsked(policy: Policy, account: Account, spent: Spent, about: About): readonly PartUse[] {
  const each = slicingsOf(policy).flatMap((by) => {
    const values = about.get(by.slicing);
    return values && !isEverything(values) ? [useOf(account, spent, by, values)] : [];
  });
  if (each.length < 2) return each;
  // A request that restricts two columns is about the records with all of these values.
  const part = each.map((own) => own.part).join(', ');
  const column = each.map((own) => own.column).join(' and ');
  return [...each, { part, column, values: [part], ...leftFor(account, spent, about) }];
}

export const steadyWords = (
  policy: Policy,
  { slicing, each }: SteadySpending,
): { readonly column: string; readonly each: number } => ({
  column: slicingsOf(policy).find((by) => by.slicing === slicing)!.column.name,
  each: toNumber(each),
});

/** Largest number of parts of one column that are shown, the latest ones: each needs a computation over the ties. */
const mostTold = 60;

/** Spent and remaining budget by part, for every public column with recorded costs. */
export function partsSpent(policy: Policy, account: Account, spent: Spent): readonly PartUse[] {
  return slicingsOf(policy)
    .filter(({ slicing }) => isBySlice(spent.pure, slicing) || isBySlice(spent.zcdp, slicing))
    .flatMap((by) =>
      piecesOf(spent, by)
        .slice(-mostTold)
        .map((values) => useOf(account, spent, by, values)),
    );
}

/** Ranges of declared values with equal costs; codes one by one. */
function piecesOf({ pure, zcdp }: Spent, { slicing, column, first, last }: SlicingColumn): readonly Values[] {
  if (column.type === 'category')
    return [...codesOf(column).map((_, k) => ({ ranges: [{ from: k, to: k }], missing: false })), { ranges: [], missing: true }];
  const runs = [pure, zcdp].flatMap((profile) => paidBySlice(profile, slicing).runs);
  const starts = kinds([runs])
    .map((v) => Math.max(v, first))
    .filter((v) => v >= first && v <= last);
  const sorted = [...new Set(starts)].sort((a, b) => a - b);
  return sorted.map((from, k) => ({
    ranges: [{ from, to: k + 1 < sorted.length ? sorted[k + 1]! - 1 : Number.POSITIVE_INFINITY }],
    missing: false,
  }));
}

function useOf(account: Account, spent: Spent, by: SlicingColumn, values: Values): PartUse {
  const part = { column: by.column.name, ...named(by, values) };
  return { part: partWords(part), ...part, ...leftFor(account, spent, new Map([[by.slicing, values]])) };
}

function leftFor(account: Account, spent: Spent, about: About): Pick<PartUse, 'spent' | 'remaining'> {
  const total = toNumber(account.epsilon);
  const used = Math.min(1, toNumber(usedShare(account, spent, about))) * total;
  return { spent: used, remaining: total - used };
}

function named({ column, first, last }: SlicingColumn, { ranges, missing }: Values): Pick<PartUse, 'from' | 'to' | 'values'> {
  const declared = ({ from, to }: Range) => ({ from: Math.max(from, first), to: Math.min(to, last) });
  const own = inOrder(ranges).map(declared);
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
