import { toNumber } from '../../base/exact/rational.js';
import { codesOf, missingLabel } from '../code.js';
import { isoDay } from '../date-text.js';
import { isCoded } from '../domain.js';
import { gridNumber, gridOf } from '../grid.js';
import type { Column, Policy } from '../policy.js';
import { distance } from './distance.js';
import { blockAt, type ColumnPairs, isPair, noAnswerPosition } from './pairs.js';

/** Examples for the pairs of one column: values that stay indistinguishable, and values that can be distinguished. */
export interface PairExamples {
  readonly column: string;
  /** Two values that are a pair: indistinguishable within epsilon. */
  readonly notTold?: readonly [string, string];
  /** Two values that a path of several pairs connects: indistinguishable within that multiple of epsilon. */
  readonly over?: { readonly values: readonly [string, string]; readonly steps: number };
  /** Two values that may be distinguished. */
  readonly told?: readonly [string, string];
  /** Set to `any` if no answer is a pair with every answer, otherwise with none. */
  readonly missing: 'any' | 'apart';
}

/** Values that are looked at for examples. */
const mostLooked = 500;

export function pairExamples({ protect, columns }: Pick<Policy, 'protect' | 'columns'>): readonly PairExamples[] {
  return [...(protect.pairs?.columns ?? [])].map(([name, pairs]) => examplesOf(columns.get(name)!, pairs));
}

function examplesOf(column: Column, pairs: ColumnPairs): PairExamples {
  if (column.type === 'multi') return { column: column.name, missing: 'apart' };
  const show = (p: number) => valueText(column, p);
  const from = startOf(pairs);
  const others = looked(pairs, from).filter((p) => p !== from);
  const steps = new Map(others.map((p) => [p, distance(pairs, from, p)]));
  // The farthest example of each kind is the most informative.
  const farthest = (list: readonly number[]) =>
    list.reduce<number | undefined>(
      (best, p) => (best !== undefined && Math.abs(best - from) > Math.abs(p - from) ? best : p),
      undefined,
    );
  const pair = farthest(others.filter((p) => isPair(pairs, from, p)));
  const over = farthest(others.filter((p) => steps.get(p)! > 1 && steps.get(p)! < Number.POSITIVE_INFINITY));
  const separable = others.find((p) => steps.get(p) === Number.POSITIVE_INFINITY);
  return {
    column: column.name,
    ...(pair !== undefined && { notTold: [show(from), show(pair)] as const }),
    ...(over !== undefined && { over: { values: [show(from), show(over)] as const, steps: steps.get(over)! } }),
    ...(separable !== undefined && { told: [show(from), show(separable)] as const }),
    missing: pairs.missing,
  };
}

/** Number of pairs between each value of a column and one in the middle; null if no path exists. */
export interface PairReach {
  readonly column: string;
  readonly from: string;
  readonly values: readonly { readonly value: string; readonly steps: number | null }[];
}

/** Values that are drawn. */
const mostDrawn = 13;

/** For a picture: columns in which rows agree, and those of several answers, have nothing to draw. */
export function pairReach({ protect, columns }: Pick<Policy, 'protect' | 'columns'>): readonly PairReach[] {
  return [...(protect.pairs?.columns ?? [])].flatMap(([name, pairs]): readonly PairReach[] => {
    const column = columns.get(name)!;
    if (column.type === 'multi' || pairs.form === 'same') return [];
    const from = startOf(pairs);
    const values = drawn(pairs, from).map((p) => {
      const steps = distance(pairs, from, p);
      return { value: valueText(column, p), steps: Number.isFinite(steps) ? steps : null };
    });
    return [{ column: name, from: valueText(column, from), values }];
  });
}

/** Along the pairs, to either end. */
function drawn(pairs: ColumnPairs, from: number): readonly number[] {
  const half = Math.floor(mostDrawn / 2);
  const widest = pairs.form === 'ranges' ? Math.max(1, Math.ceil(pairs.size / mostDrawn)) : 1;
  const stride = pairs.form === 'steps' ? pairs.steps : widest;
  const around = Array.from({ length: mostDrawn }, (_, k) => from + (k - half) * stride);
  const inside = around.filter((p) => p >= 0 && p < pairs.size);
  return [...new Set([0, ...inside, pairs.size - 1])].sort((a, b) => a - b);
}

/** A value in the middle, one that is part of a pair where there is one. */
function startOf(pairs: ColumnPairs): number {
  const middle = Math.floor((pairs.size - 1) / 2);
  if (pairs.form !== 'graph' && pairs.form !== 'blocks') return middle;
  const all = Array.from({ length: Math.min(pairs.size, mostLooked) }, (_, p) => p);
  const paired = (p: number) => (pairs.form === 'graph' ? pairs.joined[p]!.length > 0 : all.some((q) => isPair(pairs, p, q)));
  return all.slice(Math.min(middle, all.length - 1)).find(paired) ?? all.find(paired) ?? middle;
}

/** The positions around the ends and along the pairs; all of a short list. */
function looked(pairs: ColumnPairs, from: number): readonly number[] {
  const last = pairs.size - 1;
  if (last < mostLooked) return Array.from({ length: last + 1 }, (_, p) => p);
  const near = [1, -1, ...(pairs.form === 'steps' ? [pairs.steps, -pairs.steps, pairs.steps + 1] : [])].map((d) => from + d);
  const block = pairs.form === 'ranges' ? blockAt(pairs.starts, from) : 0;
  const edges =
    pairs.form === 'ranges'
      ? [pairs.starts[block - 1] ?? 0, (pairs.starts[block] ?? last + 1) - 1, pairs.starts[block] ?? last]
      : [];
  return [...new Set([0, last, ...near, ...edges])].filter((p) => p >= 0 && p <= last);
}

function valueText(column: Column, position: number): string {
  if (position === noAnswerPosition) return missingLabel;
  if (isCoded(column)) return codesOf(column)[position]!;
  const number = toNumber(gridNumber(gridOf(column), position));
  return 'date' in column && column.date ? isoDay(number) : `${number}`;
}
