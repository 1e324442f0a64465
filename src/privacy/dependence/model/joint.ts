import { Fault } from '../../../base/errors.js';
import { gcd, parseRational, type Rational } from '../../../base/exact/rational.js';
import { isTable, type Model, type ModelFactor, type OddsFactor, type TableFactor } from './model.js';

/** The whole distribution of a small model, one number per joint state (C order, last record fastest). */
export interface JointDistribution {
  readonly ids: readonly string[];
  readonly values: readonly (readonly number[])[];
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
  /** Sums to one. */
  readonly probabilities: Float64Array;
  /** The same up to a common multiplier, without rounding; numbers are read as the decimals they print as. */
  readonly exactWeights: () => readonly bigint[];
  /** Records that are tied, directly or through others, by a factor of two or more records. */
  readonly components: readonly (readonly number[])[];
  /** Choices made where the model leaves one, in words. */
  readonly assumptions: readonly string[];
}

const largestJoint = 2 ** 20;

/** Multiplies the factors out; refuses above `limit` states and names the size. */
export function enumerate(model: Model, limit = largestJoint): JointDistribution {
  const sizes = model.values.map((v) => v.length);
  const states = sizes.reduce((product, size) => product * size, 1);
  if (!(states <= limit)) throw enumerationTooLarge('states', states, limit);
  const strides = stridesOf(sizes);
  const { tables, assumptions } = fill(model);
  for (const r of model.anyPrior ?? [])
    assumptions.push(`The own weights of ${model.ids[r]} are left open: equal weights stand for the class.`);
  const probabilities = multiplyOut(tables, sizes, strides, states);
  let exact: readonly bigint[] | undefined;
  return {
    ids: model.ids,
    values: model.values,
    sizes,
    strides,
    probabilities,
    exactWeights: () => {
      exact ??= multiplyOutExactly(tables, sizes, strides, states);
      return exact;
    },
    components: componentsOf(model),
    assumptions,
  };
}

export function enumerationTooLarge(what: string, size: number, limit: number): Fault {
  let shown = size < 1e15 ? size.toLocaleString('en') : `about ${size.toExponential(0)}`;
  if (!Number.isFinite(size)) shown = 'too many';
  return new Fault(
    'MODEL_TOO_LARGE',
    `Enumeration would need ${shown} ${what}; the limit is ${limit.toLocaleString('en')}.`,
    'Audit a smaller model, an uninformed adversary, or use `fugu leak`, which needs no enumeration.',
    { details: { size, limit } },
  );
}

export function stridesOf(sizes: readonly number[]): number[] {
  const strides = new Array<number>(sizes.length);
  let stride = 1;
  for (let j = sizes.length - 1; j >= 0; j--) {
    strides[j] = stride;
    stride *= sizes[j]!;
  }
  return strides;
}

function fill(model: Model): { tables: TableFactor[]; assumptions: string[] } {
  const assumptions: string[] = [];
  const tables = model.factors.map((factor) => {
    if (isTable(factor)) return factor;
    assumptions.push(describe(model, factor));
    return { records: factor.records, table: symmetricMember(model, factor) };
  });
  return { tables, assumptions };
}

const describe = (model: Model, factor: OddsFactor): string =>
  `The tie ${factor.records.map((r) => model.ids[r]).join('-')} has an odds ratio and no table: the symmetric table with that odds ratio stands for its class.`;

/** Weight sqrt(OR) when both agree, 1 otherwise: its worst cross ratio is exactly OR. One member of the declared class, not all of it. */
function symmetricMember(model: Model, factor: OddsFactor): Float64Array {
  const [a, b] = factor.records;
  const left = model.values[a!]!;
  const right = model.values[b!] ?? [];
  if (factor.records.length !== 2 || left.length !== right.length || left.some((v, k) => v !== right[k]))
    throw new Fault(
      'MODEL_INVALID',
      `The factor over ${factor.records.map((r) => model.ids[r]).join(', ')} has an odds ratio and no table, so it names a class and not one distribution.`,
      'Give the factor a table, or use `fugu leak`, which bounds the whole class.',
    );
  const k = left.length;
  const agree = factor.oddsRatio === Number.POSITIVE_INFINITY ? 1 : Math.sqrt(factor.oddsRatio);
  const differ = factor.oddsRatio === Number.POSITIVE_INFINITY ? 0 : 1;
  return Float64Array.from({ length: k * k }, (_, cell) => (Math.floor(cell / k) === cell % k ? agree : differ));
}

/** For each state, the position in the factor's own table. */
function positions(factor: TableFactor, sizes: readonly number[], strides: readonly number[]): (state: number) => number {
  const inner = stridesOf(factor.records.map((r) => sizes[r]!));
  const parts = factor.records.map((r, k) => [strides[r]!, sizes[r]!, inner[k]!] as const);
  return (state) => {
    let position = 0;
    for (const [stride, size, step] of parts) position += (Math.floor(state / stride) % size) * step;
    return position;
  };
}

const impossible = () =>
  new Fault(
    'MODEL_INVALID',
    'The model gives every joint state weight zero.',
    'Check the factor tables: together they contradict.',
  );

function multiplyOut(tables: readonly TableFactor[], sizes: readonly number[], strides: readonly number[], states: number) {
  const out = new Float64Array(states).fill(1);
  for (const factor of tables) {
    const at = positions(factor, sizes, strides);
    // Dividing by the largest entry keeps long products away from overflow; the constant cancels.
    const largest = factor.table.reduce((m, w) => Math.max(m, w), 0);
    if (!(largest > 0)) throw impossible();
    const scale = tables.length === 1 ? 1 : largest;
    for (let state = 0; state < states; state++) out[state]! *= factor.table[at(state)]! / scale;
  }
  let total = 0;
  for (const w of out) total += w;
  if (!(total > 0)) throw impossible();
  for (let state = 0; state < states; state++) out[state]! /= total;
  return out;
}

function multiplyOutExactly(
  tables: readonly TableFactor[],
  sizes: readonly number[],
  strides: readonly number[],
  states: number,
) {
  const out = new Array<bigint>(states).fill(1n);
  for (const factor of tables) {
    const at = positions(factor, sizes, strides);
    const weights = integers([...factor.table]);
    for (let state = 0; state < states; state++) out[state]! *= weights[at(state)]!;
  }
  return out;
}

/** Numbers as integers over one common denominator, each read as the shortest decimal that prints it. */
export function integers(numbers: readonly number[]): bigint[] {
  const fractions: Rational[] = numbers.map((x) => parseRational(String(x), 'weight'));
  let common = 1n;
  for (const f of fractions) common = (common / gcd(common, f.den)) * f.den;
  return fractions.map((f) => f.num * (common / f.den));
}

/** Connected components over factors of two or more records. */
export function componentsOf(model: { readonly ids: readonly string[]; readonly factors: readonly ModelFactor[] }): number[][] {
  const parent = model.ids.map((_, j) => j);
  const root = (j: number): number => {
    let r = j;
    while (parent[r] !== r) r = parent[r]!;
    parent[j] = r;
    return r;
  };
  for (const factor of model.factors) for (const r of factor.records.slice(1)) parent[root(r)] = root(factor.records[0]!);
  const groups = new Map<number, number[]>();
  for (const j of parent.keys()) {
    const r = root(j);
    groups.set(r, [...(groups.get(r) ?? []), j]);
  }
  return [...groups.values()];
}

/** P(x_j | x_i = a) as rows a, columns values of j; a row of zeros where a is impossible. For i = j the identity on possible values. */
export function conditionalDistribution(joint: JointDistribution, i: number, j: number): Float64Array[] {
  const rows = Array.from({ length: joint.sizes[i]! }, () => new Float64Array(joint.sizes[j]!));
  const { strides, sizes, probabilities } = joint;
  for (let state = 0; state < probabilities.length; state++) {
    const a = Math.floor(state / strides[i]!) % sizes[i]!;
    const v = Math.floor(state / strides[j]!) % sizes[j]!;
    rows[a]![v]! += probabilities[state]!;
  }
  for (const row of rows) {
    const total = row.reduce((s, p) => s + p, 0);
    if (total > 0) for (let v = 0; v < row.length; v++) row[v]! /= total;
  }
  return rows;
}
