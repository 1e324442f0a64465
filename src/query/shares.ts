import { toNumber } from '../exact/rational.js';
import type { Part } from '../mechanism/law-sum.js';
import { miss, noisySum, type Term } from './answer.js';
import type { AnswerTable, NoisyMeasure } from './bound.js';
import type { LabelledKey } from './keys.js';
import { quotients } from './ratio.js';

/** Beyond this many values nobody reads percentages, and working out their errors takes longer than the release. */
const mostValues = 64;

/**
 * What part each count is of all who answered, among the rows with the same other keys: arithmetic on the noisy counts, so it costs nothing. None for
 * multi-select columns, whose options overlap.
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
  const sums = table.rows.map((_, i) => noisySum([term], noisy, i));
  const counts = sums.map(({ value }) => toNumber(value));
  /** All cells of a measure have one noise, so only the numbers of them count. */
  const known = new Map<string, ReturnType<typeof quotients>>();
  const ratioOf = (own: readonly Part[], among: readonly number[], rest: number) => {
    const key = `${own.length} ${rest}`;
    const there = known.get(key);
    if (there) return there;
    const parts = among.flatMap((k) => sums[k]!.parts).slice(0, rest);
    const ratio = quotients([own, parts], miss);
    known.set(key, ratio);
    return ratio;
  };
  const rows = table.rows.map((row, i) => {
    if (i % width === answered) return row;
    const first = i - (i % width);
    const among = Array.from({ length: answered }, (_, k) => first + k);
    const bottom = among.reduce((sum, k) => sum + counts[k]!, 0);
    if (!(bottom > 0)) return { ...row, share: { value: null, low: 0, high: 1 } };
    const own = sums[i]!.parts;
    const rest = among.reduce((n, k) => n + sums[k]!.parts.length, 0) - own.length;
    const share = ratioOf(own, among, rest)({ top: counts[i]!, bottom, factors: (r) => [1 - r, r], within: [0, 1] });
    return { ...row, share };
  });
  return { ...table, rows };
}
