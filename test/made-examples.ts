import type { Examples } from '../src/analysis/learn/classify/examples.js';
import { type FeatureMap, joinFeatures, unit } from '../src/analysis/learn/classify/features.js';

/** Rows for tests of the classifiers: each cell is the value of one number feature in -1 .. 1. */
export const numberMap = (features: number): FeatureMap =>
  joinFeatures(
    Array.from({ length: features }, (_, f) => ({
      column: `x${f}`,
      terms: [{ column: `x${f}`, kind: 'number', low: -1, high: 1 }],
      entry: () => 0,
      value: (v) => Math.round(v * unit),
      levels: 2,
      level: (v) => (v > 0 ? 1 : 0),
    })),
    { column: 'y', positive: new Set([1]) },
  );

export function madeExamples(map: FeatureMap, rows: readonly { readonly x: readonly number[]; readonly y: 1 | -1 }[]): Examples {
  return {
    count: rows.length,
    slots: map.slots,
    width: map.width,
    entry: Int32Array.from(rows.flatMap(({ x }) => [0, ...x.map((_, f) => map.start[f]!)])),
    value: Int32Array.from(rows.flatMap(({ x }) => [unit, ...x.map((v) => Math.round(v * unit))])),
    label: Int8Array.from(rows.map(({ y }) => y)),
  };
}
