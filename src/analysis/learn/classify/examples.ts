import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import type { Policy } from '../../../policy/policy.js';
import { streamIndices } from '../../../query/count/stream.js';
import { type FeatureMap, unit } from './features.js';

/** Rows as sparse whole-number vectors, `slots` entries each (zeros where a cell is missing), and labels of +1 or -1. */
export interface Examples {
  readonly count: number;
  readonly slots: number;
  readonly width: number;
  readonly entry: Int32Array;
  readonly value: Int32Array;
  readonly label: Int8Array;
}

/** Grows with the rows, so that their number need not be known. */
class Column<T extends Int32Array | Int8Array> {
  private used = 0;
  constructor(private store: T) {}
  push(x: number): void {
    if (this.used === this.store.length) {
      const bigger = new (this.store.constructor as new (n: number) => T)(2 * this.used);
      bigger.set(this.store);
      this.store = bigger;
    }
    this.store[this.used++] = x;
  }
  take(): T {
    return this.store.subarray(0, this.used) as T;
  }
}

/** A row without a label is left out: it contributes nothing to any gradient. */
export async function readExamples(engine: Snapshot, policy: Policy, map: FeatureMap): Promise<Exact<Examples>> {
  const names = [map.label.column, ...map.features.map((f) => f.column)];
  const entry = new Column(new Int32Array(1 << 14));
  const value = new Column(new Int32Array(1 << 14));
  const label = new Column(new Int8Array(1 << 12));
  let count = 0;
  for await (const part of streamIndices(engine, policy, names)) {
    const block = part.open();
    const [labels, ...cells] = block.columns;
    for (let r = 0; r < block.rows; r++) {
      const code = labels![r]!;
      if (code < 0) continue;
      label.push(map.label.positive.has(code) ? 1 : -1);
      entry.push(0);
      value.push(unit);
      for (let f = 0; f < cells.length; f++) {
        const index = cells[f]![r]!;
        entry.push(map.start[f]! + map.features[f]!.entry(index));
        value.push(map.features[f]!.value(index));
      }
      count++;
    }
  }
  return new Exact({
    count,
    slots: map.slots,
    width: map.width,
    entry: entry.take(),
    value: value.take(),
    label: label.take(),
  });
}
