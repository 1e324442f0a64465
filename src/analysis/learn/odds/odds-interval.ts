import { Fault } from '../../../base/errors.js';
import { normalQuantile } from '../../../privacy/mechanism/half-width.js';
import { type PairTable, pairCell } from './pair-table.js';
import { upward } from './tie.js';

export interface OddsInterval {
  /** Largest odds ratio over any two values of either end, and bounds on the true largest one. */
  readonly oddsRatio: number;
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
  readonly between: { readonly mine: readonly [string, string]; readonly theirs: readonly [string, string] };
  readonly pairs: number;
}

/**
 * Odds ratio of a tie from counted pairs; one-sided factors cancel in it. Bonferroni over all 2x2 tables: normal errors, Byar's
 * Poisson limits for small counts; `slack` bounds the noise. Possibly empty cells leave the upper end open.
 */
export function oddsInterval(table: PairTable, confidence: number, slack = 0): OddsInterval {
  const { values } = table;
  if (values.length < 2)
    throw new Fault(
      'DATA_MALFORMED',
      'An odds ratio needs at least two values that occur.',
      'Lower --pool, or take another column.',
    );
  const minors = [...minorsOf(table)];
  const tail = (1 - confidence) / 2 / minors.length;
  let best = { point: Number.NEGATIVE_INFINITY, low: 0, high: 0, minor: minors[0]! };
  let low = 0;
  let high = 0;
  for (const minor of minors) {
    const bound = logOddsOf(minor, table, slack, tail);
    if (bound.point > best.point) best = { ...bound, minor };
    low = Math.max(low, bound.low);
    high = Math.max(high, bound.high);
  }
  const { a, b, u, v } = best.minor;
  return {
    oddsRatio: Math.exp(Math.max(0, best.point)),
    low: Math.exp(low),
    high: Math.exp(high),
    confidence,
    between: { mine: [values[a]!, values[b]!], theirs: [values[u]!, values[v]!] },
    pairs: table.counts.reduce((sum, n) => sum + n, 0),
  };
}

interface Minor {
  readonly a: number;
  readonly b: number;
  readonly u: number;
  readonly v: number;
  /** Power of each cell in the quotient (numerator minus denominator), and log of its share if it stands for two ordered cells. */
  readonly cells: ReadonlyMap<number, { power: number; logShare: number }>;
}

function* minorsOf({ values, directed }: PairTable): Iterable<Minor> {
  const k = values.length;
  for (let a = 0; a < k; a++)
    for (let b = 0; b < k; b++)
      for (let u = 0; u < k; u++)
        for (let v = u + 1; v < k; v++) {
          if (a === b) continue;
          const cells = new Map<number, { power: number; logShare: number }>();
          const put = (x: number, y: number, power: number) => {
            const cell = pairCell(x, y, k, directed);
            const known = cells.get(cell)?.power ?? 0;
            cells.set(cell, { power: known + power, logShare: directed || x === y ? 0 : -Math.LN2 });
          };
          put(a, u, 1);
          put(b, v, 1);
          put(a, v, -1);
          put(b, u, -1);
          if ([...cells.values()].some(({ power }) => power !== 0)) yield { a, b, u, v, cells };
        }
}

/** Count below which its logarithm is not nearly normal. */
const small = 10;

function logOddsOf({ cells }: Minor, { counts }: PairTable, slack: number, tail: number) {
  const parts = [...cells].filter(([, { power }]) => power !== 0).map(([cell, part]) => ({ ...part, count: counts[cell]! }));
  const sum = (value: (part: (typeof parts)[number]) => number) => parts.reduce((s, part) => s + value(part), 0);
  const at = ({ power, logShare }: (typeof parts)[number], count: number) =>
    power * (logShare + (count > 0 ? Math.log(count) : Number.NEGATIVE_INFINITY));
  const point = sum((part) => at(part, Math.max(part.count, 0.5)));
  const least = Math.min(...parts.map((p) => p.count - slack));
  const z = normalQuantile(1 - tail);
  if (least >= small) {
    const spread = z * Math.sqrt(sum(({ power, count }) => power ** 2 / (count - slack)));
    return {
      point,
      low: sum((part) => at(part, part.count - Math.sign(part.power) * slack)) - spread,
      high: sum((part) => at(part, part.count + Math.sign(part.power) * slack)) + spread,
    };
  }
  const each = normalQuantile(1 - tail / parts.length);
  const down = (count: number) => byar(Math.max(0, count - slack), -each);
  const up = (count: number) => byar(Math.max(0, count + slack) + 1, each);
  return {
    point,
    low: sum((part) => at(part, part.power > 0 ? down(part.count) : up(part.count))),
    high: sum((part) => at(part, part.power > 0 ? up(part.count) : down(part.count))),
  };
}

/** Byar's approximation to the Poisson limits of a count (count + 1 for the upper one). */
const byar = (n: number, z: number): number => (n < 1 ? 0 : n * Math.max(0, 1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3);

/** Odds ratio to declare in a policy: the upper end, rounded up to two digits. */
export const toDeclare = (high: number): number => upward(high, 2);
