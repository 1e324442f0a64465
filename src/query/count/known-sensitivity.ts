import { codesOf } from '../../policy/code.js';
import { declaredColumn } from '../../policy/domain.js';
import { type ColumnCut, type KnownTotal, type KnownTotals, pairsWithin } from '../../policy/known/known.js';
import type { Policy } from '../../policy/policy.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { overCells, overRecords } from './bounds.js';
import { dropsMissing } from './key-cell.js';
import { columnsOfKey, type GroupKey, stableText } from './measure.js';
import { type PairMove, pairSensitivity } from './pair-sensitivity.js';
import { columnsTested, type LeafTest, mayPass, type RowTest } from './row-test.js';

/**
 * Sensitivity of a measure to changes that keep all known totals and contain no smaller such change, however many records they take
 * (sensitivity.proof.md, known totals). A measure that follows from the totals has no class and needs no noise.
 */
export function knownTotalsSensitivity(policy: Policy, known: KnownTotals, moving: PairMove): RecordSensitivity {
  if (known.totals.some((total) => followsFromTotal(policy, total, moving))) return new Map();
  const bound = known.margin ? marginSensitivity(policy, known.margin, moving) : overRecords(BigInt(known.together), moving.full);
  return bound.l1 > 0n ? new Map([[everyRecord, bound]]) : new Map();
}

/** In every cell of the margin one row is replaced by another of that cell, in all of them at once. */
function marginSensitivity(policy: Policy, margin: readonly ColumnCut[], moving: PairMove): Sensitivity {
  const own = pairSensitivity(policy, pairsWithin(margin, policy.columns), moving);
  const cells = margin.reduce((n, cut) => n * BigInt(countablePieces(policy, cut, moving.counting)), 1n);
  // Rows of different margin cells are in different cells of the table.
  const separated = margin.every((cut) => moving.counting.keys.some((key) => separatesPieces(policy, cut, key)));
  return separated ? overCells(cells, own) : overRecords(cells, own);
}

/** Parts of a measure that decide if it follows from a total. */
export type MeasureOutline = Pick<PairMove, 'counting' | 'inner' | 'value'>;
/** The move of a row between cells, whatever it adds there. */
const asMove = (placed: MeasureOutline): PairMove => ({
  ...placed,
  touched: 1n,
  most: { l1: 1n, l2squared: 1n },
  full: { l1: 2n, l2squared: 2n },
});

/** True where a measure follows from a known total. */
export function followsFromTotal(policy: Policy, total: KnownTotal, moving: MeasureOutline): boolean {
  const { counting, value } = moving;
  if (counting.derived || value?.kind === 'distinct') return false;
  if (total.kind === 'count')
    return (
      counting.keys.length === 0 &&
      moving.inner === undefined &&
      value?.kind === 'one' &&
      stableText(sorted(counting.filter)) === stableText(sorted(total.where.map((t) => totalTest(t))))
    );
  const placed = total.kind === 'margin' ? moving : countingRows(moving, total.column);
  if (pairSensitivity(policy, pairsWithin(total.by, policy.columns), asMove(placed)).l1 > 0n || moving.inner) return false;
  if (total.kind === 'margin') return true;
  return (
    value?.kind === 'number' &&
    value.column === total.column &&
    value.power === 1 &&
    value.origin === 0n &&
    value.shift === 0n &&
    value.weight === undefined
  );
}

/** Count of the rows of a measure, whatever they add. A row without the number adds 0 to a sum, so dropping it changes nothing. */
export const countingRows = (moving: MeasureOutline, column: string): MeasureOutline => ({
  ...moving,
  value: { kind: 'one' },
  counting: {
    ...moving.counting,
    filter: moving.counting.filter.filter((test) => !(test.kind === 'missing' && test.negate && test.column === column)),
  },
});

export const totalTest = (test: Extract<KnownTotal, { kind: 'count' }>['where'][number]): RowTest =>
  'codes' in test
    ? { kind: 'code', column: test.column, codes: test.codes, negate: false }
    : { kind: 'range', column: test.column, from: test.from, to: test.to, negate: false };
const sorted = (tests: readonly RowTest[]): readonly RowTest[] =>
  [...tests].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Number of pieces of a column that hold rows that can be counted. */
function countablePieces(policy: Policy, cut: ColumnCut, { filter, keys }: PairMove['counting']): number {
  const tests = filter.filter((test) => columnsTested([test]).includes(cut.column));
  const drops = keys.some((key) => columnsOfKey(key).includes(cut.column) && dropsMissing(key));
  const passing = piecesOf(policy, cut).filter((piece) =>
    tests.every((test) => mayPass(test, cut.column, (leaf) => pieceMayPass(leaf, piece))),
  );
  const missing = !drops && tests.every((test) => mayPass(test, cut.column, (leaf) => leaf.kind === 'missing' && !leaf.negate));
  return passing.length + (missing ? 1 : 0);
}

/** The pieces with an answer: a code, or positions in a row. */
type Piece = { readonly code: string } | { readonly from: number; readonly to: number };
function piecesOf(policy: Policy, { column, starts, size }: ColumnCut): readonly Piece[] {
  if (!starts) return codesOf(declaredColumn(policy, column) as never).map((code) => ({ code }));
  const firsts = [0, ...starts];
  return Array.from({ length: size - 1 }, (_, k) => ({ from: firsts[k]!, to: (firsts[k + 1] ?? Number.POSITIVE_INFINITY) - 1 }));
}

function pieceMayPass(test: LeafTest, piece: Piece): boolean {
  if (test.kind === 'missing') return test.negate;
  if (test.kind === 'code') return !('code' in piece) || test.codes.includes(piece.code) !== test.negate;
  if ('code' in piece) return true;
  const inside = test.from <= piece.from && piece.to <= test.to;
  const outside = test.to < piece.from || piece.to < test.from;
  return test.negate ? !inside : !outside;
}

/** Different pieces of a cut have different positions in the key. */
function separatesPieces(policy: Policy, { column, starts }: ColumnCut, key: GroupKey): boolean {
  if (key.kind === 'options' || key.kind === 'joint' || key.column !== column) return false;
  if (starts) return key.kind === 'bin' && starts.every((start) => key.edges.includes(start));
  if (key.kind !== 'code') return false;
  const codes = codesOf(declaredColumn(policy, column) as never);
  return (
    key.groups.length === codes.length &&
    key.groups.every((group) => group.length === 1) &&
    codes.every((code) => key.groups.some(([only]) => only === code))
  );
}
