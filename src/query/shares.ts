import { toNumber } from '../exact/rational.js';
import type { Part } from '../mechanism/law-sum.js';
import { ofShare, quotients } from '../mechanism/ratio.js';
import { miss, noiseOf, noisySum, type Term } from './answer.js';
import type { AnswerTable, NoisyMeasure } from './bound.js';
import type { LabelledKey } from './keys.js';

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
  const laws = noisy.map(({ noise }) => noise);
  const partsOf = (cells: readonly number[]): readonly Part[] => cells.flatMap((i) => noiseOf([term], laws, i).parts);
  /** All cells of a measure have one noise, so only the numbers of them count. */
  const known = new Map<string, ReturnType<typeof quotients>>();
  const ratioOf = (i: number, others: readonly number[]) => {
    const [own, rest] = [partsOf([i]), partsOf(others)];
    const key = `${own.length} ${rest.length}`;
    const ratio = known.get(key) ?? quotients([own, rest], miss);
    known.set(key, ratio);
    return ratio;
  };
  const counts = table.rows.map((_, i) => toNumber(noisySum([term], noisy, i).value));
  const rows = table.rows.map((row, i) => {
    if (i % width === answered) return row;
    const first = i - (i % width);
    const among = Array.from({ length: answered }, (_, k) => first + k);
    const bottom = among.reduce((sum, k) => sum + counts[k]!, 0);
    if (!(bottom > 0)) return { ...row, share: { value: null, low: 0, high: 1 } };
    const others = among.filter((k) => k !== i);
    return { ...row, share: ratioOf(i, others)({ top: counts[i]!, bottom, factors: ofShare, within: [0, 1] }) };
  });
  return { ...table, rows };
}
