import { Fault } from '../../../base/errors.js';
import { componentsOf, integers } from '../../../privacy/dependence/model/joint.js';
import type { Model, TableFactor } from '../../../privacy/dependence/model/model.js';
import { infinityDistance, pointDistribution } from '../pufferfish/wasserstein-distance.js';
import { maximumOverPairs } from './mechanism.js';

/** Distribution of a sum as weights per total, exact up to a common multiplier. */
type Sums = ReadonlyMap<number, bigint>;

/**
 * Distribution of a sum of one number per record given one record's value, by message passing on forests. Only
 * the record's component counts: adding independent noise to both distributions cannot increase their distance.
 */
export class SumDistributions {
  readonly #model: Model;
  readonly #contribution: (record: number, value: number) => number;
  readonly #weights: readonly bigint[][];
  readonly #factorsOf: readonly (readonly number[])[];
  readonly #messages = new Map<string, readonly Sums[]>();

  constructor(model: Model, contribution: (record: number, value: number) => number) {
    const tables = model.factors.filter((f): f is TableFactor => 'table' in f);
    if (tables.length < model.factors.length) throw noTable();
    if (!isForest(model)) throw notForest();
    this.#model = model;
    this.#contribution = contribution;
    this.#weights = tables.map((f) => integers([...f.table]));
    this.#factorsOf = model.ids.map((_, j) => model.factors.flatMap((f, k) => (f.records.includes(j) ? [k] : [])));
  }

  /** One distribution per value of the record, in the order of its values; an impossible value has no sums. */
  given(record: number): readonly Sums[] {
    return this.#fromRecord(record, -1);
  }

  /** Largest distance between the distributions for two values of the record. */
  distance(record: number): number {
    const distributions = this.given(record)
      .filter((sums) => sums.size > 0)
      .map((sums) => pointDistribution([...sums].map(([total, weight]) => [[total], weight])));
    return maximumOverPairs(distributions, infinityDistance);
  }

  #fromRecord(record: number, except: number): readonly Sums[] {
    return this.#model.values[record]!.map((value, v) => {
      let sums: Sums = new Map([[this.#contribution(record, value), 1n]]);
      for (const factor of this.#factorsOf[record]!)
        if (factor !== except) sums = convolve(sums, this.#fromFactor(factor, record)[v]!);
      return sums;
    });
  }

  #fromFactor(factor: number, to: number): readonly Sums[] {
    const key = `${factor}>${to}`;
    const known = this.#messages.get(key);
    if (known) return known;
    const { records } = this.#model.factors[factor]!;
    const sizes = records.map((r) => this.#model.values[r]!.length);
    const incoming = records.map((r) => (r === to ? undefined : this.#fromRecord(r, factor)));
    const out = this.#model.values[to]!.map(() => new Map<number, bigint>());
    this.#weights[factor]!.forEach((weight, cell) => {
      if (weight === 0n) return;
      let rest = cell;
      let sums: Sums = new Map([[0, weight]]);
      let mine = 0;
      for (let k = records.length - 1; k >= 0; k--) {
        const v = rest % sizes[k]!;
        rest = Math.floor(rest / sizes[k]!);
        const message = incoming[k];
        if (message) sums = convolve(sums, message[v]!);
        else mine = v;
      }
      const target = out[mine]!;
      for (const [total, w] of sums) target.set(total, (target.get(total) ?? 0n) + w);
    });
    this.#messages.set(key, out);
    return out;
  }
}

function convolve(a: Sums, b: Sums): Sums {
  const out = new Map<number, bigint>();
  for (const [x, w] of a) for (const [y, v] of b) out.set(x + y, (out.get(x + y) ?? 0n) + w * v);
  return out;
}

/** Records and factors as a graph: a forest has one edge less than nodes in every component. */
function isForest(model: Model): boolean {
  const edges = model.factors.reduce((n, f) => n + f.records.length, 0);
  return edges === model.ids.length + model.factors.length - componentsOf(model).length;
}

const noTable = () =>
  new Fault(
    'MODEL_INVALID',
    'A factor has an odds ratio and no table, so the law of the sum is not known.',
    'Give the factor a table.',
  );
const notForest = () =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'The factors form a loop, so the law of the sum needs enumeration.',
    'Use a smaller model or `fugu leak`.',
  );
