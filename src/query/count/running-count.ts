import type { Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { ContinualStrategy, Encoder } from '../../privacy/mechanism/running/continual-strategy.js';
import type { RecordSensitivity } from '../../privacy/mechanism/sensitivity.js';
import { compileMeasures, integerOf } from './groups.js';
import { numberOfCells, type SumMeasure } from './measure.js';
import type { Steps } from './public-steps.js';
import { sumSensitivity } from './sensitivity.js';

/** Measure with a cell for every step, from which totals are formed. */
function perStep(measure: SumMeasure, { column, width, count }: Steps): SumMeasure {
  const { filter, keys, value } = measure.counting;
  return { ...measure, counting: { filter, keys: [{ kind: 'grid', column, width, size: count }, ...keys], value } };
}

/**
 * Sensitivity to replacing one record, over all steps up to the horizon. A record may change its step: it leaves one and enters another.
 * Where steps are public it stays in its step, and records beyond the horizon change nothing (sensitivity.proof.md).
 */
export function sensitivityOverSteps(policy: Policy, measure: SumMeasure, steps: Steps, horizon: number): RecordSensitivity {
  const { column, width } = steps;
  const { filter, keys, value } = perStep(measure, { ...steps, count: horizon }).counting;
  const inside = { kind: 'range', column, from: 0, to: horizon * width - 1, negate: false } as const;
  return sumSensitivity(policy, { filter: [...filter, inside], keys, value });
}

/** Number of steps times cells that are held at once. */
const heldCells = 1 << 16;

/** Counts step after step and turns the counts so far into the numbers to be noised; the exact state never leaves this object. */
export class RunningCount {
  readonly #policy: Policy;
  readonly #steps: Steps;
  readonly #measure: SumMeasure;
  readonly #way: ContinualStrategy;
  readonly #cells: number;
  #encoders: Encoder[] = [];
  #done = 0;

  constructor(policy: Policy, measure: SumMeasure, steps: Steps, strategy: ContinualStrategy) {
    this.#policy = policy;
    this.#steps = steps;
    this.#measure = perStep(measure, steps);
    this.#way = strategy;
    this.#cells = numberOfCells(measure.counting);
  }

  /** The numbers of the steps from `from` to `to`, noised by `add`: step by step, in each cell by cell. */
  async noisy(engine: Snapshot, from: number, to: number, add: (exact: readonly bigint[]) => bigint[]): Promise<bigint[]> {
    if (from === 1 || this.#done !== from - 1) this.#forget();
    const numbers: bigint[] = [];
    const window = Math.max(1, Math.floor(heldCells / this.#cells));
    while (this.#done < to) {
      const first = this.#done + 1;
      const last = Math.min(to, this.#done + window);
      const counts = await this.#count(engine, first, last);
      for (let step = first; step <= last; step++) {
        for (let cell = 0; cell < this.#cells; cell++) {
          const out = this.#encoders[cell]!(counts[(step - first) * this.#cells + cell]!);
          if (step >= from) numbers.push(...out);
        }
      }
      this.#done = last;
    }
    return add(numbers);
  }

  #forget(): void {
    this.#done = 0;
    this.#encoders = Array.from({ length: this.#cells }, () => this.#way.encoder());
  }

  async #count(engine: Snapshot, first: number, last: number): Promise<bigint[]> {
    const { column, width } = this.#steps;
    const { counting } = this.#measure;
    const within = { kind: 'range', column, from: (first - 1) * width, to: last * width - 1, negate: false } as const;
    const measure = { ...this.#measure, counting: { ...counting, filter: [...counting.filter, within] } };
    const rows = (await engine.size()).open();
    const [plan] = compileMeasures([measure], {
      dialect: engine.dialect,
      policy: this.#policy,
      columns: await engine.columns(),
      rows,
    });
    const counts = new Array<bigint>((last - first + 1) * this.#cells).fill(0n);
    for (const [cell, value] of (await engine.rows(plan!.statement)).open())
      if (value !== null && value !== undefined) counts[Number(cell) - (first - 1) * this.#cells] = integerOf(value);
    return counts;
  }
}
