import type { MechanismOf } from '../count/measure.js';
import type { NoisyAnswer, NoisyVector } from '../count/noisy-cells.js';
import { inDoubles, lawFromText, lawText, varianceOf } from '../mechanism/law.js';
import type { AnswerRow, AnswerTable, BoundBatch, NoisyMeasure } from '../query/bound.js';
import { tidy } from './tidy.js';

/**
 * An answer as long as any can be: what is recorded is filled up to its length, so that neither the room it takes nor a failure for want of room tells
 * about the noise. Counts have fewer digits than this, sums are kept in 128 bits, and noise a thousand scales wide is drawn with probability e^-1000.
 */
export const widestAnswer = ({ measures }: BoundBatch, mechanisms: readonly MechanismOf[]): NoisyAnswer => ({
  measures: measures.map((m, k): NoisyVector => {
    const { law } = mechanisms[k]!;
    const noise = lawText(law);
    if (m.mechanism === 'exponential') return { noise, chosen: m.cells.map(() => m.candidates.length - 1) };
    const exact = m.counting.value.kind === 'one' ? 16 : 39;
    const drawn = Math.ceil(Math.log10(1 + Math.sqrt(varianceOf(law)))) + 3;
    return { noise, values: m.cells.map(() => `-${'9'.repeat(Math.max(exact, drawn))}`) };
  }),
});

/**
 * Turns stored noisy integers into tables; public arithmetic only. Tidying pulls large cells of sparse tables down by more than their noise, so
 * error bars stay those of the numbers as they were noised, widened to hold the tidied one: no less than the stated coverage.
 */
export function finishBatch(bound: BoundBatch, answer: NoisyAnswer, tidied: boolean): readonly AnswerTable[] {
  const laws = answer.measures.map((m) => lawFromText(m.noise));
  const raw = answer.measures.map((m) => (m.values ?? []).map(BigInt));
  const finish = (values: readonly (readonly bigint[])[]): readonly AnswerTable[] =>
    bound.finish(
      answer.measures.map((m, k) => {
        const law = inDoubles(laws[k]!);
        return (m.chosen ? { noise: law, chosen: m.chosen } : { noise: law, values: values[k]! }) as NoisyMeasure;
      }),
    );
  const tables = finish(raw);
  if (!tidied) return tables;
  const numbers = raw.map((v) => v.map(Number));
  return finish(tidy(bound.measures, numbers, laws.map(varianceOf))).map((table, t) => ({
    ...table,
    rows: table.rows.map((row, r) => withErrorOf(row, tables[t]!.rows[r]!)),
  }));
}

function withErrorOf(row: AnswerRow, { standardError, low, high, share }: AnswerRow): AnswerRow {
  const told = row.share && share ? { ...row, share: holding(share, row.share) } : row;
  if (row.value === null || low === null || high === null) return { ...told, standardError, low, high };
  return { ...told, standardError, low: Math.min(low, row.value), high: Math.max(high, row.value) };
}

type Share = NonNullable<AnswerRow['share']>;
const holding = ({ low, high }: Share, { value }: Share): Share => ({
  value,
  low: Math.min(low, value ?? low),
  high: Math.max(high, value ?? high),
});
