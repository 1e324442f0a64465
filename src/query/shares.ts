import type { Part } from '../mechanism/law-sum.js';
import { ofShare, quotients } from '../mechanism/ratio.js';
import { lawsOf, miss, partOf, type Term } from './answer.js';
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
  const over = (list: readonly number[], first: number): number => {
    let sum = 0;
    for (let k = first; k < first + answered; k++) sum += list[k]!;
    return sum;
  };
  const rows = table.rows.map((row, i) => {
    if (i % width === answered) return row;
    const first = i - (i % width);
    const bottom = over(counts, first);
    if (!(bottom > 0)) return { ...row, share: { value: null, low: 0, high: 1 } };
    return {
      ...row,
      share: ratioOf(
        numbers[i]!,
        over(numbers, first) - numbers[i]!,
      )({ top: counts[i]!, bottom, factors: ofShare, within: [0, 1] }),
    };
  });
  return { ...table, rows };
}
