import type { Pinned } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { Additive } from '../../privacy/mechanism/additive.js';
import { type Law, lawText } from '../../privacy/mechanism/law.js';
import { sumsBeyond } from '../../privacy/mechanism/ordered/forest.js';
import { encoded } from '../../privacy/mechanism/ordered/strategy.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import type { Selection } from '../../privacy/mechanism/select.js';
import { countCells } from './count.js';
import type { Measure, MechanismOf, OrderedMeasure } from './measure.js';

/** A batch's noisy integers as plain data, as the ledger keeps them for recorded answers. */
export interface NoisyAnswer {
  readonly measures: readonly NoisyVector[];
}
export interface NoisyVector {
  readonly noise: Law<string>;
  /** Integers as text (additive), or the chosen candidate of each group. */
  readonly values?: readonly string[];
  readonly chosen?: readonly number[];
}

/** Draws the noise, then counts, then adds, so that the time the noise takes cannot depend on the data. */
export async function noisyCells(
  engine: Pinned,
  policy: Policy,
  measures: readonly Measure[],
  mechanisms: readonly MechanismOf[],
  paid: Paid,
): Promise<NoisyAnswer> {
  const finish = measures.map((m, k) => letOut(m, mechanisms[k]!, paid));
  const exact = (await countCells(engine, policy, measures)).map((cells) => cells.open());
  return { measures: finish.map((vector, k) => ({ noise: lawText(mechanisms[k]!.law), ...vector(exact[k]!) })) };
}

function letOut(m: Measure, mechanism: MechanismOf, paid: Paid): (exact: readonly bigint[]) => Omit<NoisyVector, 'noise'> {
  if (m.mechanism === 'additive') {
    const add = (mechanism as Additive).ready(paid);
    return (exact) => ({ values: add(m.published ?? exact).map(String) });
  }
  if (m.mechanism === 'ordered') {
    const add = (mechanism as Additive).ready(paid);
    return (exact) => ({ values: add(numbersToNoise(m, exact)).map(String) });
  }
  const width = m.candidates.length;
  const penalties = (exact: readonly bigint[], group: number) => m.penalties(exact.slice(group * width, (group + 1) * width));
  return (exact) => ({ chosen: m.cells.map((_, group) => (mechanism as Selection).choose(paid, penalties(exact, group))) });
}

/** Numbers that the strategy forms of the counts at the positions, group by group. */
export function numbersToNoise({ strategy }: OrderedMeasure, counts: readonly bigint[]): bigint[] {
  const numbersOf = (own: readonly bigint[]) => ('parent' in strategy ? sumsBeyond(strategy, own) : encoded(strategy, own));
  const numbers: bigint[] = [];
  for (let first = 0; first < counts.length; first += strategy.size)
    for (const number of numbersOf(counts.slice(first, first + strategy.size))) numbers.push(number);
  return numbers;
}
