import { Fault } from '../../base/errors.js';
import { within, withinMagnitude } from '../../base/input/limits.js';
import type { JointDistribution } from '../../privacy/dependence/model/joint.js';

/** A query over a handful of named records, as the workbench commands take it. */
export interface RecordQuery {
  /** As the user wrote it. */
  readonly text: string;
  /** The exact answer for one list of values, or by the number of its joint state. */
  readonly answer: (values: readonly number[], state: number) => readonly number[];
}

/** Every joint state's exact answer: `points[state * width + k]`. */
export interface StateAnswers {
  readonly width: number;
  readonly points: Float64Array;
  /** L1 sensitivity of record j: replacing it alone, the others anywhere in the product of the domains. */
  readonly sensitivities: readonly number[];
}

type QueryKind = (argument: string | undefined, joint: JointDistribution, readTable: ReadTable) => RecordQuery['answer'];
export type ReadTable = (file: string) => unknown;

const sumOf = (numbers: readonly number[]) => numbers.reduce((s, x) => s + x, 0);

/** Contribution of one record to the answer, independent of the others. */
export type Contribution = (record: number, value: number) => number;

/** The kinds that add up over records: these need no enumeration on forests. */
const additive: Readonly<Record<string, (argument: string | undefined, records: number) => Contribution>> = {
  sum: (argument, records) => {
    if (argument === undefined) return (_, v) => v;
    const weights = numbersIn(argument);
    if (weights.length !== records)
      throw invalid(
        `sum: has ${weights.length} weights for ${records} records.`,
        'Give one weight per record, in the order of the model file.',
      );
    return (r, v) => v * weights[r]!;
  },
  atLeast: (argument) => {
    const [threshold, ...more] = numbersIn(argument ?? '');
    if (threshold === undefined || more.length > 0) throw invalid('atLeast needs one threshold.', 'Write for example atLeast:2.');
    return (_, v) => (v >= threshold ? 1 : 0);
  },
};
const added =
  (name: string): QueryKind =>
  (argument, joint) => {
    const contribution = additive[name]!(argument, joint.ids.length);
    return (x) => [sumOf(x.map((v, j) => contribution(j, v)))];
  };

/** The one list of query kinds. */
const kinds: Readonly<Record<string, QueryKind>> = {
  sum: added('sum'),
  atLeast: added('atLeast'),
  product: () => (x) => [x.reduce((p, v) => p * v, 1)],
  histogram: (_, joint) => {
    const bins = [...new Set(joint.values.flat())].sort((a, b) => a - b);
    return (x) => bins.map((bin) => x.filter((v) => v === bin).length);
  },
  identity: () => (x) => x,
  table: (argument, joint, readTable) => {
    if (!argument)
      throw invalid('table needs a file.', 'Write table:FILE, a JSON list with one answer per joint state in C order.');
    const rows = tableRows(readTable(argument), joint);
    return (_, state) => rows[state]!;
  },
};

const invalid = (message: string, hint: string) => new Fault('QUERY_INVALID', message, hint);

function numbersIn(text: string): number[] {
  const parts = text.split(',');
  within('numbers', parts.length);
  const numbers = parts.map((t) => (t.trim() === '' ? Number.NaN : Number(t)));
  if (!numbers.every(Number.isFinite))
    throw invalid('The query holds something that is not a number.', 'Write numbers separated by commas.');
  for (const x of numbers) withinMagnitude(x, 'A number of the query');
  return numbers;
}

/** A nested list in the shape of the joint, or a flat list; an entry is a number or a list of numbers of one length. */
function tableRows(table: unknown, joint: JointDistribution): number[][] {
  let level: unknown = table;
  const states = joint.probabilities.length;
  for (const _ of joint.sizes.slice(1))
    if (Array.isArray(level) && level.length !== states && level.every(Array.isArray)) level = level.flat();
  const bad = () =>
    invalid('The table does not fit the model.', `Give ${states} answers in C order (last record fastest), all of one length.`);
  if (!Array.isArray(level) || level.length !== states) throw bad();
  const rows = level.map((entry: unknown) => (Array.isArray(entry) ? (entry as unknown[]) : [entry]));
  const ok = rows.every(
    (row) => row.length === rows[0]!.length && row.length > 0 && row.every((x) => typeof x === 'number' && Number.isFinite(x)),
  );
  if (!ok) throw bad();
  for (const row of rows) for (const x of row) withinMagnitude(x as number, 'An answer of the table');
  return rows as number[][];
}

const noTables: ReadTable = () => {
  throw invalid('This query cannot read a file here.', 'Use sum, product, atLeast, histogram or identity.');
};

const split = (text: string): [name: string, argument: string | undefined] => {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
};

/** The query as a sum of one number per record; undefined for a query that is not one. */
export function readAdditive(text: string, records: number): Contribution | undefined {
  const [name, argument] = split(text);
  return Object.hasOwn(additive, name) ? additive[name]!(argument, records) : undefined;
}

/** Reads `sum | sum:W1,W2,… | product | atLeast:T | histogram | identity | table:FILE`. */
export function readRecordQuery(text: string, joint: JointDistribution, readTable: ReadTable = noTables): RecordQuery {
  const [name, argument] = split(text);
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind)
    throw invalid(
      'The query is not one of those the workbench knows.',
      'Use sum, sum:W1,W2,…, product, atLeast:T, histogram, identity or table:FILE.',
    );
  return { text, answer: kind(argument, joint, readTable) };
}

/** Several releases at once, each with its own noise scale: one vector to be read with noise of scale one. */
export const joinQueries = (parts: readonly { readonly workload: RecordQuery; readonly scale: number }[]): RecordQuery => ({
  text: parts.map((p) => p.workload.text).join(' & '),
  answer: (values, state) => parts.flatMap((p) => p.workload.answer(values, state).map((x) => x / p.scale)),
});

export function stateAnswers(joint: JointDistribution, workload: RecordQuery): StateAnswers {
  const states = joint.probabilities.length;
  const rows = Array.from({ length: states }, (_, state) => workload.answer(valuesAt(joint, state), state));
  const width = rows[0]!.length;
  const points = new Float64Array(states * width);
  for (const [state, row] of rows.entries()) points.set(row, state * width);
  const sensitivities = joint.sizes.map((_, j) =>
    distances(joint, points, width, j).reduce((most, row) => row.reduce((m, x) => Math.max(m, x), most), 0),
  );
  return { width, points, sensitivities };
}

export const valuesAt = (joint: JointDistribution, state: number): number[] =>
  joint.sizes.map((size, j) => joint.values[j]![Math.floor(state / joint.strides[j]!) % size]!);

/**
 * The metric record j induces on its own values through the query: the largest L1 move of the answer when j goes from one value to
 * another, the others anywhere. By the triangle inequality ||Q(x)-Q(y)|| <= sum over j of distance_j(x_j, y_j), for every query.
 */
export function distances(joint: JointDistribution, points: Float64Array, width: number, j: number): number[][] {
  const size = joint.sizes[j]!;
  const stride = joint.strides[j]!;
  const out = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  for (let state = 0; state < joint.probabilities.length; state++) {
    const a = Math.floor(state / stride) % size;
    for (let b = 0; b < a; b++) {
      const other = state - (a - b) * stride;
      let moved = 0;
      for (let k = 0; k < width; k++) moved += Math.abs(points[state * width + k]! - points[other * width + k]!);
      if (moved > out[a]![b]!) out[a]![b] = out[b]![a] = moved;
    }
  }
  return out;
}
