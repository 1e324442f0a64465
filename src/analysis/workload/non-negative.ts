import { placesWithout } from '../../privacy/mechanism/residual/layout.js';
import { maximalSets, subsets } from './closure.js';
import { centre, type TableEstimate } from './estimate.js';

/** Most by which a cell may stay below zero, in standard errors of the finest tables; and the most rounds tried. */
export const negativeTolerance = 0.002;
const maxRounds = 400;

/**
 * Projection of a noisy estimate onto consistent tables without relevant negative cells, in units of noise; `rows`, if given, is
 * kept. If `rows` is exact the truth is in that set, and the result is nearer to it (non-negative.proof.md).
 */
export function nonNegative(estimate: TableEstimate, tables: readonly (readonly number[])[], rows?: number): TableEstimate {
  const { sizes, by } = estimate;
  const maximal = maximalSets(tables);
  const known = new Map<string, Int32Array>();
  const placesOf = (own: readonly number[], set: number): Int32Array => {
    const text = `${own.join()} ${set}`;
    const at = known.get(text) ?? placesWithout(own, set).at;
    known.set(text, at);
    return at;
  };
  const margins = [...by].map(([text, { values, variance }]) => {
    const axes = text === '' ? [] : text.split(',').map(Number);
    const known = rows !== undefined && text === '';
    const noisy = known ? Float64Array.of(rows) : values;
    return { text, known, noisy, variance, own: axes.map((axis) => sizes[axis]!), now: Float64Array.from(noisy), weight: 0 };
  });
  const place = new Map(margins.map(({ text }, k) => [text, k]));
  const all = maximal.map((axes) => {
    const own = axes.map((axis) => sizes[axis]!);
    const inner = subsets(axes).map((kept) => {
      const set = axes.reduce((bits, axis, k) => (kept.includes(axis) ? bits : bits | (1 << k)), 0);
      return {
        margin: place.get(kept.join())!,
        at: placesOf(own, set),
        part: 1 / own.reduce((n, m, k) => ((set >> k) & 1 ? n * m : n), 1),
      };
    });
    const cells = own.reduce((n, m) => n * m, 1);
    return { inner, sum: new Float64Array(cells), pull: new Float64Array(cells), was: new Float64Array(cells) };
  });
  const finest = Math.max(...maximal.map((axes) => by.get(axes.join())!.variance));
  if (finest === 0) return estimate;
  // Any penalty parameter converges to the same point; this one takes few rounds.
  const force = 2 / finest;
  for (const { inner } of all) for (const { margin, part } of inner) margins[margin]!.weight += force * part;
  const close = negativeTolerance * Math.sqrt(finest);
  let { lowest, moved } = spread();
  for (let round = 0; round < maxRounds && (lowest < -close || (round > 0 && moved > close / 4)); round++) {
    for (const m of margins) for (let i = 0; i < m.now.length; i++) m.now[i] = m.noisy[i]! / m.variance;
    for (const { inner, sum, pull } of all) {
      for (let i = 0; i < sum.length; i++) {
        const lifted = sum[i]! + pull[i]!;
        pull[i] = Math.min(0, lifted);
        sum[i] = force * Math.abs(lifted);
      }
      for (const { margin, at, part } of inner) {
        const { now } = margins[margin]!;
        for (let i = 0; i < at.length; i++) now[at[i]!]! += part * sum[i]!;
      }
    }
    for (const m of margins) {
      if (m.known) {
        m.now.set(m.noisy);
        continue;
      }
      centre(m.now, m.own);
      for (let i = 0; i < m.now.length; i++) m.now[i]! /= 1 / m.variance + m.weight;
    }
    ({ lowest, moved } = spread());
  }
  return { sizes, by: new Map(margins.map(({ text, now, variance }) => [text, { values: now, variance }])) };

  /** Recomputes every table from the centred tables: the lowest cell of all, and the largest move since the last time. */
  function spread(): { readonly lowest: number; readonly moved: number } {
    let [lowest, moved] = [Number.POSITIVE_INFINITY, 0];
    for (const { inner, sum, was } of all) {
      sum.fill(0);
      for (const { margin, at, part } of inner) {
        const { now } = margins[margin]!;
        for (let i = 0; i < at.length; i++) sum[i]! += part * now[at[i]!]!;
      }
      for (let i = 0; i < sum.length; i++) {
        lowest = Math.min(lowest, sum[i]!);
        moved = Math.max(moved, Math.abs(sum[i]! - was[i]!));
        was[i] = sum[i]!;
      }
    }
    return { lowest, moved };
  }
}
