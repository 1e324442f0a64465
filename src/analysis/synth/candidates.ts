import { Fault } from '../../base/errors.js';
import { marginalSize } from '../graphical/marginal.js';
import type { CodedColumn, ModelColumn } from '../learn/network/read-coded.js';
import type { SynthForm } from './form.js';
import type { MarginalCandidate } from './rounds.js';

/** Most candidate tables; each is counted once and compared in every round. */
const maxTables = 6_000;
const maxCountedCells = 30_000_000;

/**
 * Marginals of up to so many columns, and named tables with theirs. Weight is the share of a table's columns in each wanted table;
 * overlap by number (McKenna et al. 2022) favours large tables and blurs other choices (docs/explanation/decisions/0086).
 */
export function candidatesFor(coded: readonly ModelColumn[], form: SynthForm, mostCells: number): readonly MarginalCandidate[] {
  const k = coded.length;
  const upTo = form.upTo ?? (choices(k, 3) + choices(k, 2) <= maxTables ? 3 : 2);
  const sizes = coded.map(({ size }) => size);
  const all = subsetsUpTo(k, Math.min(upTo, k)).filter((set) => set.length > 1 || k === 1);
  const named = form.tables.map(({ by, weight }) => ({ columns: columnPlaces(coded, by), weight }));
  // A multi-select column becomes one column per option: the subsets of so many are never enumerated.
  if (named.some(({ columns }) => 2 ** columns.length > 2 * maxTables))
    throw new Fault(
      'DOMAIN_EXCEEDED',
      'A table that is named has too many columns; one that takes several answers counts as one for each.',
      'Name tables of fewer columns.',
    );
  const sets = new Map(all.map((set) => [set.join(), set]));
  for (const { columns } of named) for (const inner of subsets(columns)) if (inner.length > 1) sets.set(inner.join(), inner);
  const list = [...sets.values()].filter((set) => marginalSize(sizes, set) <= mostCells);
  const counted = list.reduce((n, set) => n + marginalSize(sizes, set), 0);
  if (list.length > maxTables || counted > maxCountedCells)
    throw new Fault(
      'DOMAIN_EXCEEDED',
      `Rounds would look at ${list.length.toLocaleString('en')} tables with ${counted.toLocaleString('en')} cells; at most ${maxTables.toLocaleString('en')} and ${maxCountedCells.toLocaleString('en')} are compared.`,
      upTo > 2
        ? 'Write "upTo": 2, name fewer columns, or declare wider bins.'
        : 'Name fewer columns, declare wider bins, or use the mode mst.',
      { details: { tables: list.length, cells: counted } },
    );
  const wanted = upTo === 0 ? [] : subsetsUpTo(k, Math.min(upTo, k)).filter((set) => set.length === Math.min(upTo, k));
  // Share of a set's columns in all tables of the largest size: equal for all sets, so computed once.
  const share = wanted.length === 0 ? 0 : (wanted.length * Math.min(upTo, k)) / k;
  return list.map((columns) => ({
    columns,
    weight:
      share +
      named.reduce(
        (sum, own) => sum + (own.weight * wanted.length * columns.filter((c) => own.columns.includes(c)).length) / columns.length,
        0,
      ),
  }));
}

const choices = (n: number, k: number): number =>
  k > n ? 0 : Math.round(Array.from({ length: k }, (_, i) => (n - i) / (i + 1)).reduce((a, b) => a * b, 1));

function subsetsUpTo(k: number, most: number): readonly (readonly number[])[] {
  const out: number[][] = [];
  const grow = (set: readonly number[], from: number) => {
    for (let c = from; c < k; c++) {
      const next = [...set, c];
      out.push(next);
      if (next.length < most) grow(next, c + 1);
    }
  };
  grow([], 0);
  return out;
}
const subsets = (set: readonly number[]): readonly (readonly number[])[] =>
  subsetsUpTo(set.length, set.length).map((own) => own.map((i) => set[i]!));

export function columnPlaces(coded: readonly ModelColumn[], names: readonly string[], subject = 'A table'): readonly number[] {
  const of = (one: ModelColumn) => ('column' in one ? (one as CodedColumn).column.name : one.name);
  const places = names.flatMap((name) => coded.flatMap((one, c) => (of(one) === name ? [c] : [])));
  const unknown = names.find((name) => !coded.some((one) => of(one) === name));
  if (unknown !== undefined)
    throw new Fault(
      'COLUMN_UNKNOWN',
      `${subject} names "${unknown}", which is no column of the rows.`,
      'Name columns that the synthetic rows have.',
    );
  return [...new Set(places)].sort((a, b) => a - b);
}
