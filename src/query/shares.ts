import type { Part } from '../privacy/mechanism/law-sum.js';
import { endsOfShare, ofShare, quotients } from '../privacy/mechanism/ratio.js';
import { lawsOf, miss, partOf, type Term } from './answer.js';
import type { AnswerTable, NoisyMeasure } from './bound.js';
import type { LabelledKey } from './keys.js';
import { nearestCounts } from './nearest-counts.js';

/** Most values for which shares are shown: with more, nobody reads them, and their errors take longer to compute than the release. */
const mostValues = 64;

/**
 * Share of each count among the answers in rows with the same other keys: arithmetic on noisy counts, so free; none for multi-select.
 * Shares come from the nearest non-negative counts of the same sum, so they add up to 1; intervals hold them (shares.proof.md).
 */
export function withShares(
  table: AnswerTable,
  keys: readonly LabelledKey[],
  term: Term,
  noisy: readonly NoisyMeasure[],
): AnswerTable {
  const last = keys.at(-1);
  if (!last || last.key.kind === 'options') return table;
  const width = last.labels.length;
  // The last position of a key is "missing".
  const answered = width - 1;
  if (answered < 2 || answered > mostValues) return table;
  /** All cells of a measure have one noise, so only the numbers of them count. */
  const part = partOf(term, lawsOf(noisy));
  const known = new Map<string, ReturnType<typeof quotients>>();
  const ratioOf = (own: number, rest: number) => {
    const key = `${own} ${rest}`;
    const ratio = known.get(key) ?? quotients([new Array<Part>(own).fill(part), new Array<Part>(rest).fill(part)], miss);
    known.set(key, ratio);
    return ratio;
  };
  const counts = table.rows.map(({ value }) => value!);
  const numbers = table.rows.map((_, i) => term.cells(i).length);
  const group = (list: readonly number[], i: number): readonly number[] => {
    const first = i - (i % width);
    return list.slice(first, first + answered);
  };
  const told = table.rows.flatMap((_, i) => (i % width === 0 ? [...partsOf(group(counts, i), group(numbers, i)), null] : []));
  const rows = table.rows.map((row, i) => {
    if (i % width === answered) return row;
    const value = told[i]!;
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
function partsOf(counts: readonly number[], numbers: readonly number[]): readonly (number | null)[] {
  const total = sum(counts);
  if (!(total > 0)) return counts.map(() => null);
  return nearestCounts(counts, total, numbers).map((x) => Math.min(1, x / total));
}
