import { Fault } from '../../../base/errors.js';
import { parseJson } from '../../../base/input/json.js';
import { type LimitName, within, withinMagnitude } from '../../../base/input/limits.js';
import { chainModel } from './chain-model.js';
import type { Model, ModelFactor } from './model.js';

/** Place of a fault in the document, such as factors[2].table. */
type Path = string;
type Json = unknown;

/** Reads a model file: `{"records": …, "factors": …}` or `{"chain": …}`. Numbers are the doubles they parse to. */
export function readModel(text: string, file: string): Model {
  const reader = modelReader(file);
  reader.within('modelBytes', text.length);
  const document = reader.object(parseModel(text, file), '');
  if ('chain' in document) {
    reader.only(document, ['chain'], '');
    return readChain(reader, document.chain);
  }
  reader.only(document, ['records', 'factors'], '');
  return readRecords(reader, document);
}

function readChain(reader: ModelReader, chain: Json): Model {
  const { length, transition, initial, people = 1, ...rest } = reader.object(chain, 'chain');
  reader.only(rest, [], 'chain');
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 1)
    throw reader.wrong('chain.length', 'must be a whole number of at least 1');
  if (typeof people !== 'number' || !Number.isSafeInteger(people) || people < 1)
    throw reader.wrong('chain.people', 'must be a whole number of at least 1');
  reader.within('records', length * people);
  const rows = reader.list(transition, 'chain.transition').map((row, r) => reader.weights(row, `chain.transition[${r}]`));
  const states = rows.length;
  if (states === 0) throw reader.wrong('chain.transition', 'is empty');
  reader.within('states', states);
  for (const [r, row] of rows.entries()) {
    if (row.length !== states)
      throw reader.wrong(`chain.transition[${r}]`, `has ${row.length} entries; the matrix has ${states} rows`);
    if (!sumsToOne(row)) throw reader.wrong(`chain.transition[${r}]`, 'must sum to 1');
  }
  if (initial === 'any' || initial === 'stationary')
    return chainModel({ length, transition: rows, initial, people }, reader.wrong);
  if (!Array.isArray(initial)) throw reader.wrong('chain.initial', 'must be "stationary", "any" or a list of probabilities');
  const distribution = reader.weights(initial, 'chain.initial');
  if (distribution.length !== states)
    throw reader.wrong('chain.initial', `has ${distribution.length} entries for ${states} states`);
  if (!sumsToOne(distribution)) throw reader.wrong('chain.initial', 'must sum to 1');
  return chainModel({ length, transition: rows, initial: distribution, people }, reader.wrong);
}

const sumsToOne = (distribution: readonly number[]): boolean => Math.abs(distribution.reduce((s, p) => s + p, 0) - 1) <= 1e-9;

function readRecords(reader: ModelReader, document: Record<string, Json>): Model {
  const records = reader.list(document.records, 'records');
  if (records.length === 0) throw reader.wrong('records', 'is empty');
  reader.within('records', records.length);
  const place = new Map<string, number>();
  const values = records.map((entry, r) => {
    const { id, values: list, ...rest } = reader.object(entry, `records[${r}]`);
    reader.only(rest, [], `records[${r}]`);
    if (typeof id !== 'string' || id === '') throw reader.wrong(`records[${r}].id`, 'must be a text');
    if (place.has(id)) throw reader.wrong(`records[${r}].id`, `repeats the id of records[${place.get(id)}]`);
    place.set(id, r);
    return reader.values(list, `records[${r}].values`);
  });
  let cells = 0;
  const listed = reader.list(document.factors ?? [], 'factors');
  reader.within('factors', listed.length);
  const factors = listed.map((entry, f): ModelFactor => {
    const factor = readFactor(reader, entry, `factors[${f}]`, { place, values });
    if ('table' in factor) cells += factor.table.length;
    reader.within('allCells', cells);
    return factor;
  });
  return { ids: [...place.keys()], values, factors };
}

function readFactor(
  reader: ModelReader,
  entry: Json,
  at: Path,
  { place, values }: { readonly place: ReadonlyMap<string, number>; readonly values: Model['values'] },
): ModelFactor {
  const { records, table, oddsRatio, pull, ...rest } = reader.object(entry, at);
  reader.only(rest, [], at);
  const members = reader.list(records, `${at}.records`).map((id, k) => {
    const r = typeof id === 'string' ? place.get(id) : undefined;
    if (r === undefined) throw reader.wrong(`${at}.records[${k}]`, 'is not the id of a record');
    return r;
  });
  if (members.length === 0) throw reader.wrong(`${at}.records`, 'is empty');
  reader.within('members', members.length);
  if (new Set(members).size !== members.length) throw reader.wrong(`${at}.records`, 'names a record twice');
  if ((table === undefined) === (oddsRatio === undefined)) throw reader.wrong(at, 'needs either a table or an oddsRatio');
  if (oddsRatio !== undefined) {
    const ratio = oddsRatio === 'inf' ? Number.POSITIVE_INFINITY : oddsRatio;
    if (typeof ratio !== 'number' || !(ratio >= 1))
      throw reader.wrong(`${at}.oddsRatio`, 'must be a number of at least 1, or "inf"');
    if (members.length < 2) throw reader.wrong(`${at}.oddsRatio`, 'ties at least two records');
    if (pull === undefined) return { records: members, oddsRatio: ratio };
    if (pull !== 'alike') throw reader.wrong(`${at}.pull`, 'must be "alike"');
    if (members.length !== 2 || members.some((r) => values[r]!.length !== 2))
      throw reader.wrong(`${at}.pull`, 'speaks about two records with two values each');
    return { records: members, oddsRatio: ratio, pull };
  }
  if (pull !== undefined) throw reader.wrong(`${at}.pull`, 'belongs to an oddsRatio; a table shows it by itself');
  const shape = members.map((r) => values[r]!.length);
  const size = shape.reduce((product, k) => product * k, 1);
  reader.within('cells', size);
  const flat = new Float64Array(size);
  fillTable(reader, flat, { table, shape, path: `${at}.table` });
  if (!flat.some((w) => w > 0)) throw reader.wrong(`${at}.table`, 'is zero everywhere, so nothing is possible');
  return { records: members, table: flat };
}

/** Nested lists in C order, or one flat list of all cells. */
function fillTable(
  { wrong, list, weight, weights }: ModelReader,
  flat: Float64Array,
  { table, shape, path }: { readonly table: Json; readonly shape: readonly number[]; readonly path: Path },
): void {
  const outer = list(table, path);
  if (shape.length > 1 && outer.length === flat.length && outer.every((w) => typeof w === 'number')) {
    flat.set(weights(outer, path));
    return;
  }
  let next = 0;
  const walk = (node: Json, depth: number, at: Path): void => {
    if (depth === shape.length) {
      flat[next++] = weight(node, at);
      return;
    }
    const children = list(node, at);
    if (children.length !== shape[depth])
      throw wrong(at, `has ${children.length} entries; the record has ${shape[depth]} values`);
    for (const [k, child] of children.entries()) walk(child, depth + 1, `${at}[${k}]`);
  };
  walk(table, 0, path);
}

type ModelReader = ReturnType<typeof modelReader>;

/** The checks that turn untrusted JSON into plain values, each naming the path it complains about. */
function modelReader(file: string) {
  const wrong = (path: Path, what: string) =>
    new Fault(
      'MODEL_INVALID',
      `${path === '' ? 'The model' : path} ${what}.`,
      'See docs for the model file, or start from an example.',
      {
        place: { file },
        details: { path },
      },
    );
  const fits = (limit: LimitName, size: number) => within(limit, size, { file });
  const list = (value: Json, path: Path): readonly Json[] => {
    if (!Array.isArray(value)) throw wrong(path, 'must be a list');
    return value;
  };
  const object = (value: Json, path: Path): Record<string, Json> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'must be an object');
    return value as Record<string, Json>;
  };
  const only = (value: Record<string, Json>, known: readonly string[], path: Path): void => {
    const extra = Object.keys(value).find((key) => !known.includes(key));
    if (extra !== undefined) throw wrong(path, `has an unknown key ${JSON.stringify(extra.slice(0, 40))}`);
  };
  const weight = (value: Json, path: Path): number => {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw wrong(path, 'must be a finite number of at least 0');
    withinMagnitude(value, path, { file });
    return value;
  };
  const weights = (value: Json, path: Path): number[] => list(value, path).map((w, k) => weight(w, `${path}[${k}]`));
  const values = (value: Json, path: Path): number[] => {
    const entries = list(value, path).map((v, k) => {
      if (typeof v !== 'number' || !Number.isFinite(v)) throw wrong(`${path}[${k}]`, 'must be a finite number');
      withinMagnitude(v, `${path}[${k}]`, { file });
      return v;
    });
    if (entries.length === 0) throw wrong(path, 'is empty');
    fits('values', entries.length);
    if (new Set(entries).size !== entries.length) throw wrong(path, 'lists a value twice');
    return entries;
  };
  return { wrong, within: fits, list, object, only, weight, weights, values };
}

function parseModel(text: string, file: string): Json {
  try {
    return parseJson(text, { file });
  } catch (error) {
    if (error instanceof Fault) throw error;
    const position = Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    const before = text.slice(0, position).split('\n');
    throw new Fault('MODEL_INVALID', 'The model file is not JSON.', 'Check the commas, quotes and brackets at the place named.', {
      place: { file, line: before.length, column: before.at(-1)!.length + 1 },
    });
  }
}
