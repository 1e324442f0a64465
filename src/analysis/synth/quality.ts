import type { NoisyMarginal } from '../graphical/fit.js';
import { marginalIndex, marginalSize, sumInto } from '../graphical/marginal.js';
import { type CodedTable, countMarginal } from '../learn/network/coded.js';

/** Distance of synthetic rows from the measurements. Nothing else is known of the data. */
export interface Quality {
  readonly tables: readonly TableQuality[];
  readonly pairs: readonly PairQuality[];
  /** Synthetic rows by the answers of every column, scaled to the number of rows of the data. */
  readonly singles: readonly { readonly column: string; readonly counts: readonly number[] }[];
}
export interface TableQuality {
  readonly columns: readonly string[];
  readonly cells: number;
  /** Share of rows that would have to change cells for the synthetic table to equal the measured one. */
  readonly distance: number;
  /** Expected distance from noise and from sampling so many rows, if the synthetic table is the truth. */
  readonly noise: number;
}
/** Association of two columns (Cramer's V), as measured (noise subtracted) and in the synthetic rows. */
export interface PairQuality {
  readonly columns: readonly [string, string];
  readonly measured: number;
  readonly synthetic: number;
}

export function qualityOf(rows: CodedTable, measured: readonly NoisyMarginal[], total: number): Quality {
  const name = (c: number) => rows.names[c]!;
  const tables = measured.map(({ columns, counts, sd }) => {
    const synthetic = scaled(countMarginal(rows, columns), total / rows.rows);
    const l1Distance = synthetic.reduce((sum, x, cell) => sum + Math.abs(x - counts[cell]!), 0);
    return {
      columns: columns.map(name),
      cells: counts.length,
      distance: l1Distance / (2 * total),
      noise: synthetic.reduce((sum, x) => sum + Math.sqrt((2 / Math.PI) * (sd * sd + (x * total) / rows.rows)), 0) / (2 * total),
    };
  });
  const best = new Map<string, NoisyMarginal>();
  for (const one of measured.flatMap((m) => pairsOf(m, rows.levels))) {
    const known = best.get(one.columns.join());
    if (!known || one.sd < known.sd) best.set(one.columns.join(), one);
  }
  const pairs = [...best.values()].flatMap((one): PairQuality[] => {
    const [a, b] = one.columns as [number, number];
    const width = rows.levels[b]!;
    const known = association(one, width, total);
    if (!known) return [];
    const synthetic = scaled(countMarginal(rows, one.columns), total / rows.rows);
    const own = association({ counts: synthetic, sd: 0 }, width, total, known.levels);
    return own ? [{ columns: [name(a), name(b)], measured: known.v, synthetic: own.v }] : [];
  });
  const singles = rows.names.map((column, c) => ({ column, counts: [...scaled(countMarginal(rows, [c]), total / rows.rows)] }));
  return { tables, pairs, singles };
}

const scaled = (counts: Float64Array, by: number): Float64Array => counts.map((x) => x * by);

/** The two-column marginals of a measured table. */
function pairsOf({ columns, counts, sd }: NoisyMarginal, sizes: readonly number[]): readonly NoisyMarginal[] {
  if (columns.length < 2) return [];
  return columns.flatMap((b, j) =>
    columns.slice(0, j).map((a) => {
      const sums = new Float64Array(marginalSize(sizes, [a, b]));
      sumInto(marginalIndex(sizes, columns, [a, b]), counts, sums);
      return { columns: [a, b], counts: sums, sd: sd * Math.sqrt(counts.length / sums.length) };
    }),
  );
}

interface Levels {
  readonly across: readonly number[];
  readonly down: readonly number[];
}

/** Association over levels above the noise; undefined if a column has fewer than two of them. */
function association(
  { counts, sd }: Pick<NoisyMarginal, 'counts' | 'sd'>,
  width: number,
  total: number,
  given?: Levels,
): { readonly v: number; readonly levels: Levels } | undefined {
  const height = counts.length / width;
  const sums = (of: (cell: number) => number, n: number) => {
    const out = new Float64Array(n);
    for (let cell = 0; cell < counts.length; cell++) out[of(cell)]! += counts[cell]!;
    return out;
  };
  const [rows, columns] = [sums((cell) => Math.floor(cell / width), height), sums((cell) => cell % width, width)];
  const significantLevels = (own: Float64Array, others: number) =>
    [...own.keys()].filter((k) => own[k]! > Math.max(3 * sd * Math.sqrt(others), 0.005 * total));
  const levels = given ?? { down: significantLevels(rows, width), across: significantLevels(columns, height) };
  const { down, across } = levels;
  if (down.length < 2 || across.length < 2) return undefined;
  let all = 0;
  const high = new Float64Array(down.length);
  const wide = new Float64Array(across.length);
  for (const [i, r] of down.entries())
    for (const [j, c] of across.entries()) {
      const x = counts[r * width + c]!;
      all += x;
      high[i]! += x;
      wide[j]! += x;
    }
  if (!(all > 0)) return { v: 0, levels };
  let phi = 0;
  for (const [i, r] of down.entries())
    for (const [j, c] of across.entries()) {
      const expected = (high[i]! * wide[j]!) / all;
      if (expected > 0) phi += ((counts[r * width + c]! - expected) ** 2 - sd * sd) / expected / all;
    }
  return { v: Math.min(1, Math.sqrt(Math.max(0, phi) / (Math.min(down.length, across.length) - 1))), levels };
}
