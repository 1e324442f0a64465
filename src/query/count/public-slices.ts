import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import { codesOf } from '../../policy/code.js';
import { cellCount, combinations } from '../../policy/domain.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { ValueBox } from '../../privacy/mechanism/joint-costs.js';
import { columnsIn, type RecordClass, sliced, sliceOfAll } from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import {
  allValues,
  commonValues,
  coversAllValues,
  type Range,
  sortRanges,
  unionOfValues,
  type ValueSet,
} from '../../privacy/mechanism/slices.js';
import { type DerivedColumn, passesAt } from './derived.js';
import { dropsMissing } from './key-cell.js';
import type { Counting } from './measure.js';
import { foldTest, type LeafTest, type RowTest } from './row-test.js';

export type ClassSensitivity = readonly [RecordClass, Sensitivity];

/**
 * Slices in which a row must lie to be counted, per public column of the query and for all of them together, with the sensitivity
 * to replacing a row by one with the same values of those columns (sensitivity.proof.md, Values of public columns).
 */
export function sensitivityBySlice(
  policy: Policy,
  { filter, keys, derived = [] }: Counting,
  row: Sensitivity,
  within: (columns: readonly SlicingColumn[]) => Sensitivity,
): readonly ClassSensitivity[] {
  const slicings = slicingsOf(policy);
  const valuesAllowed = (by: SlicingColumn): readonly ValueSet[] =>
    [
      ...filter.map((test) => valuesPassing(policy, test, by, derived)),
      ...keys
        .filter((key) => key.kind !== 'joint' && key.column === by.column.name && dropsMissing(key))
        .map(() => presentValues(by)),
    ].filter((values) => !coversAllValues(values));
  return readingsOf(policy).flatMap((of): readonly ClassSensitivity[] => {
    const columns = columnsIn(of).map((column) => slicings.find(({ slicing }) => slicing === column)!);
    const allowed = columns.map(valuesAllowed);
    const own = within(columns);
    const less = own.l1 < row.l1 || own.l2squared < row.l2squared;
    if (!less && allowed.every(({ length }) => length === 0)) return [];
    const boxes = boxesOf(allowed.map((values) => values.reduce(commonValues, allValues)));
    return boxes ? [[sliced(of), row], ...boxes.map((box) => [sliceOfAll(of, box), own] as const)] : [];
  });
}

/** Most combinations of values per request; with more, the request counts for all combinations. */
const maxBoxes = 256;

function boxesOf(values: readonly ValueSet[]): readonly ValueBox[] | undefined {
  const several = values.length > 1;
  const pieces = values.map(({ ranges, missing }): readonly ValueBox[number][] =>
    several && coversAllValues({ ranges, missing }) ? [undefined] : [...ranges, ...(missing ? [none] : [])],
  );
  if (several && cellCount(pieces.map(({ length }) => ({ size: length }))) > maxBoxes) return undefined;
  return combinations(pieces);
}
const none: Range = { from: Number.NaN, to: Number.NaN };

const presentValues = ({ first }: SlicingColumn): ValueSet => ({
  ranges: [{ from: first, to: Number.POSITIVE_INFINITY }],
  missing: false,
});

/** Values of a public column that can pass a test, whatever the other cells hold: union over OR, intersection over AND. */
const valuesPassing = (policy: Policy, test: RowTest, by: SlicingColumn, derived: readonly DerivedColumn[]): ValueSet =>
  foldTest(test, {
    leaf: (leaf) => {
      if (leaf.column === by.column.name) return leafValues(leaf, by);
      return derivedPassing(passesAt(policy, derived, leaf, by.column.name), by);
    },
    any: (parts) => parts.reduce(unionOfValues, { ranges: [], missing: false }),
    all: (parts) => parts.reduce(commonValues, allValues),
  });

/** Most values that are tested one by one; with more, all of them are taken to pass. */
const maxValues = 20_000;

/** Values that pass a test on a column derived from this column alone. */
function derivedPassing(passes: ((place: number) => boolean) | undefined, { first, last }: SlicingColumn): ValueSet {
  if (!passes || last - first >= maxValues) return allValues;
  const ranges: Range[] = [];
  for (let value = first; value <= last; value++)
    if (passes(value - first)) ranges.push({ from: value, to: value === last ? Number.POSITIVE_INFINITY : value });
  return { ranges: sortRanges(ranges), missing: passes(-1) };
}

/** Values that pass a test. Numbers beyond the last declared one are clamped to it, so the last range has no upper end. */
function leafValues(test: LeafTest, { column, first, last }: SlicingColumn): ValueSet {
  const declared = [{ from: first, to: Number.POSITIVE_INFINITY }];
  if (test.kind === 'missing') return test.negate ? { ranges: declared, missing: false } : { ranges: [], missing: true };
  const ranges = test.kind === 'code' ? codeRanges(test.codes, column) : numberRanges(test, first, last);
  return { ranges: test.negate ? complement(ranges, first) : ranges, missing: false };
}
function codeRanges(wanted: readonly string[], column: Column): readonly Range[] {
  const codes = column.type === 'category' ? codesOf(column) : [];
  return sortRanges(codes.flatMap((code, k) => (wanted.includes(code) ? [{ from: k, to: k }] : [])));
}
function numberRanges(test: Pick<Range, 'from' | 'to'>, first: number, last: number): readonly Range[] {
  if (test.from > test.to) return [];
  return [{ from: first + test.from, to: test.to >= last - first ? Number.POSITIVE_INFINITY : first + test.to }];
}

function complement(ranges: readonly Range[], first: number): readonly Range[] {
  const gaps: Range[] = [];
  let from = first;
  for (const range of ranges) {
    gaps.push({ from, to: range.from - 1 });
    from = range.to + 1;
  }
  return sortRanges(Number.isFinite(from) ? [...gaps, { from, to: Number.POSITIVE_INFINITY }] : gaps);
}
