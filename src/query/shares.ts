import type { Part } from '../privacy/mechanism/law-sum.js';
import { endsOfShare, ofShare, quotients } from '../privacy/mechanism/ratio.js';
import { lawsOf, miss, partOf, type Term } from './answer.js';
import type { AnswerTable, NoisyMeasure } from './bound.js';
import type { LabelledKey } from './keys.js';
import { nearestCounts } from './nearest-counts.js';

/** Beyond this many values nobody reads percentages, and working out their errors takes longer than the release. */
const mostValues = 64;

/**
 * What part each count is of all who answered, among the rows with the same other keys: arithmetic on the noisy counts, so it costs nothing. The parts of
 * one table are those of one estimate of its counts: the nearest to the noisy ones that has their sum and nothing below nought, so that they add up to one.
 * Intervals are of the counts as they were noised, and hold the part told (shares.proof.md). None for multi-select columns, whose options overlap.
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

/** The parts of the counts of one group, each made of so many noisy numbers; none where nobody seems to have answered. */
function partsOf(counts: readonly number[], numbers: readonly number[]): readonly (number | null)[] {
  const total = sum(counts);
  if (!(total > 0)) return counts.map(() => null);
  return nearestCounts(counts, total, numbers).map((x) => Math.min(1, x / total));
}
