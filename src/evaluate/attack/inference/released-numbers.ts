import { toNumber } from '../../../base/exact/rational.js';
import type { Cell } from '../../../data/engine/engine.js';
import type { Policy } from '../../../policy/policy.js';
import { isDistinct } from '../../../query/count/groups.js';
import type { Measure, MechanismOf } from '../../../query/count/measure.js';
import { numbersToNoise } from '../../../query/count/noisy-cells.js';
import { rowCounter } from '../../../query/count/row-counter.js';
import type { RecordStates, ReleasedNumber } from './record-states.js';

/**
 * Released numbers about a few records, as the attacker models them, with their outcomes. For Laplace noise only values that
 * some state gives matter (evaluate/audit/exact-loss.proof.md, F1); exact numbers have no others; a choice has its candidates.
 */
export function releasedNumbers(
  policy: Policy,
  measures: readonly Measure[],
  mechanisms: readonly MechanismOf[],
  rows: readonly (readonly Cell[])[],
): (few: RecordStates) => readonly ReleasedNumber[] {
  const names = [...policy.columns.keys()];
  // Published numbers depend on no record.
  const released = measures.flatMap((measure, k) => {
    if (measure.mechanism === 'additive' && measure.published) return [];
    const countsOf = (state: readonly number[]): readonly number[] => {
      const counter = rowCounter([measure], names, policy);
      for (const row of state) counter.add({ columns: rows[row]!.map((cell) => [cell]), rows: 1 });
      const counts = counter.totals()[0]!;
      return (measure.mechanism === 'ordered' ? numbersToNoise(measure, counts) : counts).map(Number);
    };
    return [
      {
        measure,
        distribution: mechanisms[k]!.distribution,
        sumOf: isDistinct(measure.counting) ? countsOf : added(rows.map((_, row) => countsOf([row]))),
      },
    ];
  });
  return ({ states }) =>
    released.flatMap(({ measure, distribution, sumOf }) => {
      const sums = states.map(sumOf);
      if (measure.mechanism === 'exponential') {
        const width = measure.candidates.length;
        const sharpness = distribution.kind === 'selection' ? toNumber(distribution.sharpness) : Number.POSITIVE_INFINITY;
        const penalties = (g: number) =>
          sums.map((sum) => measure.penalties(sum.slice(g * width, (g + 1) * width).map(BigInt)).map(Number));
        return measure.cells.map((_, g) => chosen(penalties(g), sharpness));
      }
      if (distribution.kind !== 'laplace' && distribution.kind !== 'none')
        throw new RangeError('only pure noise has a worst outcome');
      const scale = distribution.kind === 'laplace' ? toNumber(distribution.scale) : 0;
      return (sums[0] ?? []).map((_, c) =>
        noisy(
          sums.map((sum) => sum[c]!),
          scale,
        ),
      );
    });
}

/** Sum over rows of the contribution of each. */
const added =
  (each: readonly (readonly number[])[]) =>
  (state: readonly number[]): readonly number[] =>
    each[0]!.map((_, c) => state.reduce((sum, row) => sum + each[row]![c]!, 0));

function noisy(values: readonly number[], scale: number): ReleasedNumber {
  const log = (off: number) => (scale === 0 ? Number.NEGATIVE_INFINITY : -Math.abs(off) / scale);
  return [...new Set(values)].map((released) => Float64Array.from(values, (v) => (v === released ? 0 : log(v - released))));
}

function chosen(penalties: readonly (readonly number[])[], sharpness: number): ReleasedNumber {
  const logs = penalties.map((list) => {
    const first = list.indexOf(Math.min(...list));
    const certain = (k: number) => (k === first ? 0 : Number.NEGATIVE_INFINITY);
    const raw = list.map((p, k) => (sharpness < Number.POSITIVE_INFINITY ? -sharpness * p : certain(k)));
    const top = Math.max(...raw);
    const all = top + Math.log(raw.reduce((sum, x) => sum + Math.exp(x - top), 0));
    return raw.map((x) => x - all);
  });
  return penalties[0]!.map((_, candidate) => Float64Array.from(logs, (list) => list[candidate]!));
}
