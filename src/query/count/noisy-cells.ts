import type { Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { AdditiveMechanism } from '../../privacy/mechanism/additive.js';
import { distributionText, type NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import type { ExponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import { sumsBeyond } from '../../privacy/mechanism/ordered/forest.js';
import { encoded } from '../../privacy/mechanism/ordered/strategy.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { countCells } from './count.js';
import type { Measure, MechanismOf, OrderedMeasure } from './measure.js';

/** A batch's noisy integers as plain data, as the ledger keeps them for recorded answers. */
export interface NoisyAnswer {
  readonly measures: readonly NoisyVector[];
}
export interface NoisyVector {
  readonly noise: NoiseDistribution<string>;
  /** Integers as text (additive), or the chosen candidate of each group. */
  readonly values?: readonly string[];
  readonly chosen?: readonly number[];
}

/** Draws the noise, then counts, then adds, so that the time the noise takes cannot depend on the data. */
export async function noisyCells(
  engine: Snapshot,
  policy: Policy,
  measures: readonly Measure[],
  mechanisms: readonly MechanismOf[],
  payment: Payment,
): Promise<NoisyAnswer> {
  const finish = measures.map((m, k) => prepareNoise(m, mechanisms[k]!, payment));
  const exact = (await countCells(engine, policy, measures)).map((cells) => cells.open());
  return {
    measures: finish.map((vector, k) => ({ noise: distributionText(mechanisms[k]!.distribution), ...vector(exact[k]!) })),
  };
}

function prepareNoise(
  m: Measure,
  mechanism: MechanismOf,
  payment: Payment,
): (exact: readonly bigint[]) => Omit<NoisyVector, 'noise'> {
  if (m.mechanism === 'additive') {
    const add = (mechanism as AdditiveMechanism).prepare(payment);
    return (exact) => ({ values: add(m.published ?? exact).map(String) });
  }
  if (m.mechanism === 'ordered') {
    const add = (mechanism as AdditiveMechanism).prepare(payment);
    return (exact) => ({ values: add(numbersToNoise(m, exact)).map(String) });
  }
  const width = m.candidates.length;
  const penalties = (exact: readonly bigint[], group: number) => m.penalties(exact.slice(group * width, (group + 1) * width));
  return (exact) => ({
    chosen: m.cells.map((_, group) => (mechanism as ExponentialMechanism).choose(payment, penalties(exact, group))),
  });
}

/** Numbers that the strategy forms of the counts at the positions, group by group. */
export function numbersToNoise({ strategy }: OrderedMeasure, counts: readonly bigint[]): bigint[] {
  const numbersOf = (own: readonly bigint[]) => ('parent' in strategy ? sumsBeyond(strategy, own) : encoded(strategy, own));
  const numbers: bigint[] = [];
  for (let first = 0; first < counts.length; first += strategy.size)
    for (const number of numbersOf(counts.slice(first, first + strategy.size))) numbers.push(number);
  return numbers;
}
