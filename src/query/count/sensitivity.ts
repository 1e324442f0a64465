import { Fault } from '../../base/errors.js';
import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { cellCount } from '../../policy/domain.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { answersTo, everyRecord } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { larger, overCells, overRecords, scalarSensitivity, smaller, smallerSensitivity } from './bounds.js';
import { withDerived } from './derived.js';
import { knownTotalsSensitivity } from './known-sensitivity.js';
import { type Counting, columnsOf, columnsOfKey, declaredBases, type GroupKey, type RowValue, valueColumns } from './measure.js';
import { type InnerKey, type PairMove, withPairSensitivity } from './pair-sensitivity.js';
import { type ClassSensitivity, sensitivityBySlice } from './public-slices.js';
import { numberInterval, sizeOf, valueInterval, weightInterval } from './value-range.js';

/**
 * Largest contribution of one row to a cell (`most`), and largest change when the row stays in the cell (`range`, zero included).
 * A cell may stand for several numbers.
 */
interface CellSensitivity {
  readonly most: Sensitivity;
  readonly range: Sensitivity;
}

/** Change when two rows touch at most `touched` of `cells` cells each, for the overlap that is worst. */
function replaceSensitivity(touched: bigint, cells: bigint, { most, range }: CellSensitivity): Sensitivity {
  const spare = 2n * touched - cells;
  const shared = spare > 0n ? spare : 0n;
  const unshared = 2n * (touched - shared);
  return {
    l1: shared * range.l1 + unshared * most.l1,
    l2squared: larger(touched * range.l2squared, shared * range.l2squared + unshared * most.l2squared),
  };
}

/** A measure whose cells, or groups of cells, a row is spread over. */
interface CountingShape {
  readonly counting: Counting;
  readonly row: CellSensitivity;
  /** Change of one cell when only this column's answer changes and the row stays in its cells. */
  readonly within: (column: string) => Sensitivity;
  /** Further inputs of the sensitivity along pairs. */
  readonly moving: Pick<PairMove, 'value' | 'inner'>;
}
const cellsOf = ({ keys }: Counting): bigint => BigInt(cellCount(keys));

/** Sensitivity to a record that touches so many cells, for the policy's neighbours: replaced, or added or removed. */
const recordSensitivity = (policy: Policy, touched: bigint, { counting, row }: CountingShape): Sensitivity =>
  isAddRemove(policy) ? overCells(touched, row.most) : replaceSensitivity(touched, cellsOf(counting), row);

const optionCount = (counting: Counting, except?: string): bigint =>
  counting.keys.reduce(
    (k, key) => (key.kind === 'options' && key.column !== except ? k * BigInt(Math.max(1, key.codes.length)) : k),
    1n,
  );

function answerSensitivity(column: string, { counting, row, within }: CountingShape): Sensitivity {
  const touched = optionCount(counting);
  const reads = (name: string) => declaredBases(counting, name).includes(column);
  const keys = counting.keys.filter((key) => columnsOfKey(key).some(reads));
  const valued = valueColumns(counting.value).some(reads);
  const whole = replaceSensitivity(touched, cellsOf(counting), row);
  if (keys.length > 0 && valued) return whole;
  if (valued) return smallerSensitivity(overCells(touched, within(column)), whole);
  if (keys.length === 0) return smallerSensitivity(overCells(touched, row.most), whole);
  // If the answer also makes another key, an option named in both answers stands in different cells.
  const options = keys.length === 1 ? keys.find((key) => key.kind === 'options') : undefined;
  const moved = options ? optionCount(counting, column) * BigInt(options.size) : 2n * touched;
  return smallerSensitivity(overCells(moved, row.most), whole);
}

function sensitivityPerClass(policy: Policy, shape: CountingShape): RecordSensitivity {
  const { counting, moving } = shape;
  const { secret } = policy.protect;
  if (secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
  const touched = optionCount(counting);
  const full = recordSensitivity(policy, touched, shape);
  const move: PairMove = { ...moving, counting, touched, most: shape.row.most, full };
  if (policy.known) return knownTotalsSensitivity(policy, policy.known, move);
  const classes = secret === 'answer' ? answerClasses(policy, shape, full) : recordClasses(policy, shape, full);
  return withPairSensitivity(policy, new Map(classes.filter(([, bound]) => bound.l1 > 0n)), move);
}

function answerClasses(policy: Policy, shape: CountingShape, full: Sensitivity): readonly ClassSensitivity[] {
  const secrets = columnsOf(shape.counting).filter((column) => !policy.columns.get(column)?.public);
  const answers = secrets.map((column): ClassSensitivity => [answersTo(column), answerSensitivity(column, shape)]);
  // All of the row as one record: upper bound for any dependence between a person's answers.
  return secrets.length > 0 ? [...answers, [everyRecord, full]] : [];
}

function recordClasses(policy: Policy, shape: CountingShape, row: Sensitivity): readonly ClassSensitivity[] {
  const { counting } = shape;
  const { secret, maxRows } = policy.protect;
  const m = secret === 'person' ? BigInt(maxRows) : 1n;
  const isOfPersons = counting.value.kind === 'distinct' && counting.value.column === undefined;
  const own = isOfPersons ? personCountSensitivity(policy, m, shape) : overRecords(m, row);
  const slices = sensitivityBySlice(policy, counting, row, (columns) => sameSliceSensitivity(policy, shape, columns, row));
  return [[everyRecord, own], ...slices];
}

/** Sensitivity of a count of persons: a person adds 1 to each cell that has a row of theirs, however many rows. */
function personCountSensitivity(policy: Policy, m: bigint, shape: CountingShape): Sensitivity {
  const touched = optionCount(shape.counting);
  const cells = (isSteady(policy, shape.counting) ? 1n : m) * touched;
  return recordSensitivity(policy, smaller(cells, cellsOf(shape.counting)), shape);
}

/** All rows of one person fall into the same cells. */
const isSteady = ({ view }: Policy, counting: Counting): boolean =>
  counting.keys.every((key) =>
    columnsOfKey(key).every((name) => declaredBases(counting, name).every((column) => view?.steady.has(column))),
  );

/** Sensitivity to replacing a row by one with the same values of these columns; where rows are added or removed, the full one. */
function sameSliceSensitivity(
  policy: Policy,
  { counting, row }: CountingShape,
  columns: readonly SlicingColumn[],
  full: Sensitivity,
): Sensitivity {
  if (isAddRemove(policy)) return full;
  const fixed = counting.keys.filter((key) => isFixed(counting, key, columns));
  return replaceSensitivity(optionCount(counting), cellsOf(counting) / BigInt(cellCount(fixed)), row);
}

/** The row's position in the key is determined by its values of public columns. */
const isFixed = (counting: Counting, key: GroupKey, slicings: readonly SlicingColumn[]): boolean =>
  key.kind !== 'options' &&
  key.kind !== 'joint' &&
  declaredBases(counting, key.column).every((name) => slicings.some(({ column }) => column.name === name));

/** Sensitivity of a vector of sums, for the policy's neighbours. Proof in sensitivity.proof.md. */
export function sumSensitivity(declared: Policy, counting: Counting): RecordSensitivity {
  const policy = withDerived(declared, counting.derived);
  const { value } = counting;
  const { most, range } = sizeOf(valueInterval(policy, value));
  const weight = sizeOf(weightInterval(policy, value));
  const number = sizeOf(numberInterval(policy, value));
  const within = (column: string): Sensitivity => {
    // If the column is in both factors: weights are at least 0, so the product changes by at most range(number) times the largest weight.
    const inNumber = value.kind === 'number' && declaredBases(counting, value.column).includes(column);
    return scalarSensitivity(inNumber ? number.range * weight.most : weight.range * number.most);
  };
  const row = { most: scalarSensitivity(most), range: scalarSensitivity(range) };
  return sensitivityPerClass(policy, { counting, row, within, moving: { value } });
}

/**
 * Sensitivity of the penalties of a quantile num/den, for the policy's neighbours; chosen once per group (all keys but the last,
 * which is the grid).
 */
export function rankSensitivity(policy: Policy, counting: Counting, num: bigint, den: bigint): RecordSensitivity {
  const row = { most: scalarSensitivity(larger(num, den - num)), range: scalarSensitivity(den) };
  return withinGroupSensitivity(policy, counting, row, () => scalarSensitivity(den));
}

/** Sensitivity where the last key is a value inside the groups of the other keys: changing that answer moves a row within its groups. */
export function withinGroupSensitivity(
  declared: Policy,
  { filter, keys, derived }: Counting,
  row: CellSensitivity,
  moves: InnerKey['moves'],
): RecordSensitivity {
  const key = keys.at(-1)!;
  const value: RowValue = { kind: 'number', column: columnsOfKey(key)[0]!, power: 1, origin: 0n, shift: 0n };
  const counting: Counting = { filter, keys: keys.slice(0, -1), value, ...(derived && { derived }) };
  const policy = withDerived(declared, derived);
  return sensitivityPerClass(policy, { counting, row, within: () => row.range, moving: { inner: { key, moves } } });
}
