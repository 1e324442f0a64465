import type { Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import { sumsBeyond } from '../../privacy/mechanism/ordered/forest.js';
import { encoded } from '../../privacy/mechanism/ordered/strategy.js';
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

/** Noise that was paid for: additive noise is drawn, choices are made once the counts are known. */
export interface DrawnNoise<M extends MechanismOf = MechanismOf> {
  readonly noise: NoiseDistribution<string>;
  readonly apply: ReturnType<M['prepare']>;
}

/** Counts, and applies the noise of each measure, which was drawn before: the time it takes cannot depend on the data. */
export async function noisyCells(
  engine: Snapshot,
  policy: Policy,
  measures: readonly Measure[],
  drawn: readonly DrawnNoise[],
): Promise<NoisyAnswer> {
  const exact = (await countCells(engine, policy, measures)).map((cells) => cells.open());
  return { measures: measures.map((m, k) => ({ noise: drawn[k]!.noise, ...withNoise(m, exact[k]!, drawn[k]!) })) };
}

function withNoise(m: Measure, exact: readonly bigint[], { apply }: DrawnNoise): Omit<NoisyVector, 'noise'> {
  if (m.mechanism === 'exponential') {
    const choose = apply as DrawnNoise<MechanismOf<typeof m>>['apply'];
    const width = m.candidates.length;
    return { chosen: m.cells.map((_, group) => choose(m.penalties(exact.slice(group * width, (group + 1) * width)))) };
  }
  const add = apply as DrawnNoise<MechanismOf<typeof m>>['apply'];
  const numbers = m.mechanism === 'ordered' ? numbersToNoise(m, exact) : (m.published ?? exact);
  return { values: add(numbers).map(String) };
}

/** Numbers that the strategy forms of the counts at the positions, group by group. */
export function numbersToNoise({ strategy }: OrderedMeasure, counts: readonly bigint[]): bigint[] {
  const numbersOf = (own: readonly bigint[]) => ('parent' in strategy ? sumsBeyond(strategy, own) : encoded(strategy, own));
  const numbers: bigint[] = [];
  for (let first = 0; first < counts.length; first += strategy.size)
    for (const number of numbersOf(counts.slice(first, first + strategy.size))) numbers.push(number);
  return numbers;
}
