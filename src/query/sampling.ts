import type { Policy } from '../policy/policy.js';
import type { AnswerRow, AnswerTable } from './bound.js';

type Share = NonNullable<AnswerRow['share']>;
const z = 1.959964;

/**
 * Shares with the error of having asked some people and not all, beside that of the noise (sampling.proof.md): from published numbers and the declared design
 * effect, so it costs nothing and tells nothing. Shares of weights get none, nor those of persons with
 * several rows: how many people they are is not published.
 */
export function withSampling(table: AnswerTable, { design, protect }: Pick<Policy, 'design' | 'protect'>): AnswerTable {
  if (!design || ('weight' in table.query && table.query.weight !== undefined)) return table;
  if (protect.secret === 'person' && protect.maxRows > 1) return table;
  const group = ({ keys }: AnswerRow) => JSON.stringify(keys.slice(0, -1));
  const people = new Map<string, number>();
  // What a share is a share of: rows may overlap, as those up to each value do. One that was cut at 1 tells it only where no other does.
  for (const cut of [false, true])
    for (const row of table.rows)
      if (row.share?.value && row.share.value >= 1 === cut && row.value !== null && !people.has(group(row)))
        people.set(group(row), row.value / row.share.value);
  const rows = table.rows.map((row) =>
    row.share ? { ...row, share: sampled(row.share, (people.get(group(row)) ?? 0) / design.effect) } : row,
  );
  return { ...table, rows };
}

/** `people`: of a simple random sample that would be as exact. */
function sampled(share: Share, people: number): Share {
  const { value, low, high } = share;
  if (value === null || !(people > 0)) return { ...share, withSampling: { low: 0, high: 1 } };
  const [least, most] = wilson(value, people);
  return {
    ...share,
    withSampling: {
      low: Math.max(0, value - Math.hypot(value - low, value - least)),
      high: Math.min(1, value + Math.hypot(high - value, most - value)),
    },
  };
}

/** Wilson's 95 % interval of a share: holds also where few said so. */
function wilson(share: number, people: number): readonly [number, number] {
  const shrink = 1 + (z * z) / people;
  const middle = (share + (z * z) / (2 * people)) / shrink;
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / people + (z * z) / (4 * people * people));
  return [Math.min(share, middle - half), Math.max(share, middle + half)];
}
