import type { ScaledNoise } from '../privacy/mechanism/noise-sum.js';
import { endsOfShare, ofShare, quotientIntervals } from '../privacy/mechanism/quotient.js';
import { defaultAlpha, distributionsOf, type LinearTerm, termNoise } from './answer.js';
import type { AnswerTable, NoisyMeasure } from './bound.js';
import type { LabelledKey } from './keys.js';
import { nearestCounts } from './nearest-counts.js';

/** Most values for which shares are shown: with more, nobody reads them, and their errors take longer to compute than the release. */
const maxValues = 64;

/**
 * Share of each count among the answers in rows with the same other keys: arithmetic on noisy counts, so free; none for multi-select.
 * Shares come from the nearest non-negative counts of the same sum, so they add up to 1; intervals hold them (shares.proof.md).
 */
export function withShares(
  table: AnswerTable,
  keys: readonly LabelledKey[],
  term: LinearTerm,
  noisy: readonly NoisyMeasure[],
): AnswerTable {
  const last = keys.at(-1);
  if (!last || last.key.kind === 'options') return table;
  const width = last.labels.length;
  // The last position of a key is "missing".
  const answered = width - 1;
  if (answered < 2 || answered > maxValues) return table;
  /** All cells of a measure have one noise, so only the numbers of them count. */
  const part = termNoise(term, distributionsOf(noisy));
  const known = new Map<string, ReturnType<typeof quotientIntervals>>();
  const ratioOf = (own: number, rest: number) => {
    const key = `${own} ${rest}`;
    const ratio =
      known.get(key) ??
      quotientIntervals([new Array<ScaledNoise>(own).fill(part), new Array<ScaledNoise>(rest).fill(part)], defaultAlpha);
    known.set(key, ratio);
    return ratio;
  };
  const counts = table.rows.map(({ value }) => value!);
  const numbers = table.rows.map((_, i) => term.cells(i).length);
  const group = (list: readonly number[], i: number): readonly number[] => {
    const first = i - (i % width);
    return list.slice(first, first + answered);
  };
  const proportions = table.rows.flatMap((_, i) =>
    i % width === 0 ? [...proportionsOf(group(counts, i), group(numbers, i)), null] : [],
  );
  const rows = table.rows.map((row, i) => {
    if (i % width === answered) return row;
    const value = proportions[i]!;
    if (value === null) return { ...row, share: { value, low: 0, high: 1 } };
    const bottom = sum(group(counts, i));
    const rest = sum(group(numbers, i)) - numbers[i]!;
    const ends = endsOfShare(numbers[i]!, numbers[i]! + rest);
    const { low, high } = ratioOf(numbers[i]!, rest)({ top: counts[i]!, bottom, factors: ofShare, within: [0, 1], ends });
    return { ...row, share: { value, low: Math.min(low, value), high: Math.max(high, value) } };
  });
  return { ...table, rows };
}

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

/** Shares of one group's counts, each the sum of so many noisy numbers; none where the group's noisy total is not positive. */
function proportionsOf(counts: readonly number[], numbers: readonly number[]): readonly (number | null)[] {
  const total = sum(counts);
  if (!(total > 0)) return counts.map(() => null);
  return nearestCounts(counts, total, numbers).map((x) => Math.min(1, x / total));
}
