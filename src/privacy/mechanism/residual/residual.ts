import { type Additive, additive } from '../additive.js';
import type { Allotment } from '../allotment.js';
import type { Effects, Scope } from '../effect.js';
import { inDoubles } from '../law.js';
import { deviation } from '../law-width.js';
import type { RecordClass } from '../record-class.js';
import { type Change, effectOf } from './move.js';
import { cellsIn, cellsOf, encode, type Layout } from './part.js';

/** Change by one record of a class: one change for each of `rows` rows. */
export interface Changes {
  readonly of: RecordClass;
  readonly change: Change;
  readonly rows: number;
}

/** Tables noised jointly: cost, distribution and draw are those of one additive mechanism over all their cells. */
export interface NoisedTables {
  readonly layout: Layout;
  readonly mechanism: Additive;
  /** Variance of one published number, in units. */
  readonly variance: number;
  /** The numbers that noise is added to, from the exact counts of every part's table. */
  vector(counts: readonly (readonly bigint[])[]): bigint[];
  /** Splits the published numbers by part. */
  apart<T>(told: readonly T[]): T[][];
}

export function noisedTables(
  name: string,
  layout: Layout,
  changes: readonly Changes[],
  allotment: Allotment,
  scope?: Scope,
): NoisedTables {
  const { sizes, parts } = layout;
  const mechanism = additive({ name, cells: cellsIn(layout), effects: effectsOf(layout, changes) }, allotment, scope);
  return {
    layout,
    mechanism,
    variance: deviation(inDoubles(mechanism.law)) ** 2,
    vector: (counts) => parts.flatMap((part, k) => encode(sizes, part, counts[k]!)),
    apart: (told) => {
      let from = 0;
      return parts.map((part) => {
        const own = told.slice(from, from + cellsOf(sizes, part));
        from += own.length;
        return own;
      });
    },
  };
}

/** Rows of one record change one after the other: lengths add up (the triangle inequality). */
function effectsOf(layout: Layout, changes: readonly Changes[]): Effects {
  return new Map(
    changes
      .map(({ of, change, rows }) => {
        const { l1, l2squared } = effectOf(layout, change);
        const m = BigInt(rows);
        return [of, { l1: m * l1, l2squared: m * m * l2squared }] as const;
      })
      .filter(([, { l1 }]) => l1 > 0n),
  );
}
