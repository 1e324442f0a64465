import type { Policy } from '../../policy/policy.js';
import { type MarginConstraint, marginConstraint, totalMeasure } from '../../query/count/margin-cells.js';
import type { Measure } from '../../query/count/measure.js';
import { wholeNumbers } from './tidy.js';

/** Margins with more cells are not read along with every answer. */
const mostCells = 10_000;

/** Noisy counts adjusted to totals that everybody knows (agreement.proof.md), and the measures to read for it. */
export interface Agreement {
  readonly measures: readonly Measure[];
  readonly agree: (values: readonly (readonly bigint[])[]) => readonly (readonly bigint[])[];
}

export function agreementOf(policy: Policy, measures: readonly Measure[]): Agreement | undefined {
  const cuts = policy.known?.margin;
  if (!cuts || cuts.reduce((n, cut) => n * cut.size, 1) > mostCells) return undefined;
  const alignments = measures.map((m) => marginConstraint(policy, cuts, m));
  if (!alignments.some((h) => h !== undefined)) return undefined;
  return {
    measures: [...measures, totalMeasure(policy, { kind: 'margin', by: cuts })],
    agree: (values) => {
      const margin = values[measures.length]!;
      return values.map((own, k) => {
        const alignment = alignments[k];
        return alignment ? adjusted(own, alignment, margin) : own;
      });
    },
  };
}

/** Nearest counts with the known totals: the difference is divided evenly among the cells, in integers. */
function adjusted(
  values: readonly bigint[],
  { groupOf, groups, from }: MarginConstraint,
  margin: readonly bigint[],
): readonly bigint[] {
  const known = new Array<bigint>(groups).fill(0n);
  from.forEach((group, k) => {
    if (group >= 0) known[group]! += margin[k]!;
  });
  const cells: number[][] = Array.from({ length: groups }, () => []);
  groupOf.forEach((group, cell) => {
    cells[group]!.push(cell);
  });
  const out = [...values];
  for (const [group, own] of cells.entries()) {
    // A part of an empty group is empty.
    if (known[group] === 0n) {
      for (const cell of own) out[cell] = 0n;
      continue;
    }
    const off = own.reduce((rest, cell) => rest - values[cell]!, known[group]!);
    const each = Number(off) / own.length;
    const whole = wholeNumbers(own.map((cell) => Number(values[cell]!) + each));
    for (const [i, cell] of own.entries()) out[cell] = whole[i]!;
  }
  return out;
}
