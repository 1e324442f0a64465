import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import type { Policy } from '../../../policy/policy.js';
import { streamIndices } from '../../../query/count/stream.js';
import { joinBlocks } from '../network/coded.js';
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

/** A row without a label is left out: it contributes nothing to any gradient. */
export async function readExamples(engine: Snapshot, policy: Policy, map: FeatureMap): Promise<Exact<Examples>> {
  const { features, label, slots, start, width } = map;
  const names = [label.column, ...features.map((f) => f.column)];
  const blocks: Pick<Examples, 'entry' | 'value' | 'label'>[] = [];
  let count = 0;
  for await (const part of streamIndices(engine, policy, names)) {
    const { rows, columns } = part.open();
    const [labels, ...cells] = columns;
    const entry = new Int32Array(rows * slots);
    const value = new Int32Array(rows * slots);
    const signs = new Int8Array(rows);
    let kept = 0;
    for (let r = 0; r < rows; r++) {
      const code = labels![r]!;
      if (code < 0) continue;
      let at = kept * slots;
      signs[kept++] = label.positive.has(code) ? 1 : -1;
      // The intercept has entry 0.
      value[at] = unit;
      for (let f = 0; f < cells.length; f++) {
        const index = cells[f]![r]!;
        entry[++at] = start[f]! + features[f]!.entry(index);
        value[at] = features[f]!.value(index);
      }
    }
    blocks.push({
      entry: entry.subarray(0, kept * slots),
      value: value.subarray(0, kept * slots),
      label: signs.subarray(0, kept),
    });
    count += kept;
  }
  const joined = <T extends 'entry' | 'value'>(key: T) =>
    joinBlocks(
      blocks.map((block) => block[key]),
      new Int32Array(count * slots),
    );
  const signs = joinBlocks(
    blocks.map((block) => block.label),
    new Int8Array(count),
  );
  return new Exact({ count, slots, width, entry: joined('entry'), value: joined('value'), label: signs });
}
