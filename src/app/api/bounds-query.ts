import type { AnswerTable } from '../../query/bound.js';
import type { Expression } from '../../query/form.js';

/** Round numbers on both sides of 0, up to `most`, and the smallest step between numbers. */
export interface BoundLadder {
  readonly most: number;
  readonly step: number;
  /** Digits after the decimal point. */
  readonly digits: number;
  /** In ascending order, from -most to most. */
  readonly rungs: readonly number[];
}
export interface LearnedBounds {
  readonly column: string;
  readonly bounds: readonly [number, number];
  readonly step: number;
  /** Rank error (95 %) of the shares below and above, in rows. */
  readonly rankError: number;
}

/** Largest number of steps that a policy may declare; `step` is the power of ten that stays below it. */
const mostSteps = 2 ** 31;
const fewestRungs = 3;

/** 1, 2 and 5 times powers of ten. */
export function boundLadder(within: number): BoundLadder {
  const power = Math.ceil(Math.log10(within) - 1e-9);
  const digits = -Math.ceil(Math.log10((2 * 10 ** power) / mostSteps));
  const scale = (k: number, by: number) => Number(`${by}e${k}`);
  const lowest = Math.max(-digits, power - 10, -fewestRungs);
  const above = Array.from({ length: power - lowest }, (_, i) => [1, 2, 5].map((by) => scale(lowest + i, by))).flat();
  const most = scale(power, 1);
  return {
    most,
    step: scale(-digits, 1),
    digits,
    rungs: [-most, ...above.map((x) => -x).reverse(), 0, ...above, most],
  };
}

/** Index of the interval between rungs that holds a number: `<` where it may equal the lower rung, `<=` the upper one. */
const rungExpression = (column: string, rungs: readonly number[], op: '<' | '<='): Expression => ({
  cases: rungs.slice(1, -1).map((value, i) => ({ when: { column, op, value }, value: i })),
  otherwise: rungs.length - 2,
});

/** Queries for the two rungs that leave a share `tail` of the rows outside at either end. */
export const tailsQuery = (column: string, { rungs }: BoundLadder, tail: number) => [
  {
    kind: 'quantile',
    column: 'at least',
    at: [tail],
    derive: { 'at least': skipMissing(column, rungExpression(column, rungs, '<')) },
  },
  {
    kind: 'quantile',
    column: 'at most',
    at: [Number((1 - tail).toFixed(3))],
    derive: { 'at most': skipMissing(column, rungExpression(column, rungs, '<=')) },
  },
];
/** Rows without a number are left out. */
const skipMissing = (column: string, rung: Expression): Expression => ({
  cases: [{ when: { column, op: 'missing' }, value: null }],
  otherwise: rung,
});

/**
 * Share of the numbers whose digits the step must hold; the others are rounded. A private quantile errs by ranks: at 0.99 noise
 * easily passes the hundredth of the rows above, at 0.9 a tenth remains.
 */
const precisionQuantile = 0.9;
const fractionAt = (column: string, { most }: BoundLadder, digits: number): Expression => ({
  op: '%',
  of: [{ op: '*', of: [{ op: '+', of: [column, most] }, 10 ** digits] }, 1],
});
export function decimalsQuery(column: string, ladder: BoundLadder) {
  const each = Array.from(
    { length: Math.max(0, ladder.digits) },
    (_, d) => [`rest ${d}`, fractionAt(column, ladder, d)] as const,
  );
  const digits: Expression = {
    cases: [
      { when: { column, op: 'missing' }, value: null },
      ...each.map(([name], d) => ({ when: { column: name, op: '=' as const, value: 0 }, value: d })),
    ],
    otherwise: Math.max(0, ladder.digits),
  };
  return { kind: 'quantile', column: 'digits', at: [precisionQuantile], derive: { ...Object.fromEntries(each), digits } };
}

/** Bounds rounded outwards to whole steps: rungs near 0 lie closer together than steps, and noise may select one of them. */
function roundToSteps([from, to]: readonly [number, number], step: number): readonly [number, number] {
  const least = Math.abs(from) < step ? Math.min(Math.sign(from), 0) * step : from;
  const most = Math.abs(to) < step ? Math.max(Math.sign(to), 0) * step : to;
  return [least, Math.max(most, least + step)];
}

/** Bounds and step from the released quantiles. */
export function learnedBounds(column: string, { rungs }: BoundLadder, tables: readonly AnswerTable[]): LearnedBounds {
  const [low, high, digits] = tables.map(({ rows }) => rows[0]!);
  const [least, most] = [rungs[low!.value ?? 0]!, rungs[(high!.value ?? rungs.length - 2) + 1]!];
  // A bound that is small compared with the other end becomes 0: rungs lie close to each other near 0.
  const from = least > 0 && 10 * least < most ? 0 : least;
  const to = most < 0 && 10 * most > least ? 0 : most;
  const step = Number(`1e${-(digits!.value ?? 0)}`);
  return {
    column,
    bounds: roundToSteps(from < to ? [from, to] : [to, rungs[rungs.indexOf(to) + 1] ?? from], step),
    step,
    rankError: Math.max(low!.rankError ?? 0, high!.rankError ?? 0),
  };
}
