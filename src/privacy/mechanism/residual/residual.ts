import { type AdditiveMechanism, additiveMechanism } from '../additive.js';
import type { BudgetShare } from '../budget-share.js';
import { inDoubles } from '../distribution.js';
import { standardDeviation } from '../half-width.js';
import type { RecordClass } from '../record-class.js';
import type { ClassScope, RecordSensitivity } from '../sensitivity.js';
import { encode, layoutCells, partCells, type ResidualLayout } from './layout.js';
import { layoutSensitivity, type RowChange } from './row-sensitivity.js';

/** Change by one record of a class: one change for each of `rows` rows. */
export interface RecordChange {
  readonly of: RecordClass;
  readonly change: RowChange;
  readonly rows: number;
}

/** Tables noised jointly: cost, distribution and draw are those of one additive mechanism over all their cells. */
export interface NoisedTables {
  readonly layout: ResidualLayout;
  readonly mechanism: AdditiveMechanism;
  /** Variance of one published number, in units. */
  readonly variance: number;
  /** The numbers that noise is added to, from the exact counts of every part's table. */
  vector(counts: readonly (readonly bigint[])[]): bigint[];
  split<T>(numbers: readonly T[]): T[][];
}

export function noisedTables(
  {
    name,
    layout,
    changes,
  }: { readonly name: string; readonly layout: ResidualLayout; readonly changes: readonly RecordChange[] },
  share: BudgetShare,
  scope?: ClassScope,
): NoisedTables {
  const { sizes, parts } = layout;
  const mechanism = additiveMechanism(
    { name, cells: layoutCells(layout), sensitivity: recordSensitivity(layout, changes) },
    share,
    scope,
  );
  return {
    layout,
    mechanism,
    variance: standardDeviation(inDoubles(mechanism.distribution)) ** 2,
    vector: (counts) => parts.flatMap((part, k) => encode(sizes, part, counts[k]!)),
    split: (numbers) => {
      let from = 0;
      return parts.map((part) => {
        const own = numbers.slice(from, from + partCells(sizes, part));
        from += own.length;
        return own;
      });
    },
  };
}

/** Rows of one record change one after the other: lengths add up (the triangle inequality). */
function recordSensitivity(layout: ResidualLayout, changes: readonly RecordChange[]): RecordSensitivity {
  return new Map(
    changes
      .map(({ of, change, rows }) => {
        const { l1, l2squared } = layoutSensitivity(layout, change);
        const m = BigInt(rows);
        return [of, { l1: m * l1, l2squared: m * m * l2squared }] as const;
      })
      .filter(([, { l1 }]) => l1 > 0n),
  );
}
