import type { Rational } from '../../base/exact/rational.js';

/**
 * Pairs of values of a column that must be indistinguishable (pairs.proof.md; policies of He et al. 2014). Values are code or
 * grid positions, -1 for no answer. `same`: no pairs; `steps`: at most so many positions between them.
 */
export type ColumnPairs = {
  /**
   * Set to `any` if no answer is a pair with every answer; otherwise it is one with none, and so can be distinguished from all.
   */
  readonly missing: 'any' | 'apart';
  /** Number of positions. */
  readonly size: number;
} & (
  | { readonly form: 'same' }
  | { readonly form: 'steps'; readonly steps: number }
  /** The block of a position is that of the last start at or before it. */
  | { readonly form: 'ranges'; readonly starts: readonly number[] }
  | { readonly form: 'blocks'; readonly blockOf: readonly number[] }
  | { readonly form: 'graph'; readonly joined: readonly (readonly number[])[] }
);

/** The pairs of a policy. A column that is absent: any two of its values. */
export interface Pairs {
  /** Digest of the pairs and of the reading of their columns; costs booked under another digest do not count for these pairs. */
  readonly digest: string;
  readonly columns: ReadonlyMap<string, ColumnPairs>;
  /** Declarations in words, column by column. */
  readonly declarations: readonly PairsDeclaration[];
}

export interface PairsDeclaration {
  readonly columns: readonly string[];
  readonly text: string;
  /** Of one column of numbers: the declared distance, or the declared edges. */
  readonly within?: Rational;
  readonly edges?: readonly Rational[];
}

/** No answer. */
export const noAnswerPosition = -1;

/** True if two values are a declared pair. This is the definition: every derived form is tested against it. */
export function isPair(pairs: ColumnPairs | undefined, a: number, b: number): boolean {
  if (a === b) return false;
  if (pairs === undefined) return true;
  if (a === noAnswerPosition || b === noAnswerPosition) return pairs.missing === 'any';
  if (pairs.form === 'same') return false;
  if (pairs.form === 'steps') return Math.abs(a - b) <= pairs.steps;
  if (pairs.form === 'ranges') return blockAt(pairs.starts, a) === blockAt(pairs.starts, b);
  if (pairs.form === 'blocks') return pairs.blockOf[a] === pairs.blockOf[b];
  return pairs.joined[a]!.includes(b);
}

/** Number of starts at or before a position. */
export function blockAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
