import { numberInText } from '../engine/duckdb/number.js';
import { placeIn, presentIn, real } from '../engine/duckdb/place.js';
import type { Statement } from '../engine/engine.js';
import { type NameExpression, nameReader } from '../engine/name.js';
import { Fault } from '../errors.js';
import type { Grid } from '../policy/grid.js';

/** The few places where databases differ. Expressions in, expressions out; none of them can fail on data. */
export interface Dialect {
  identifier(name: string): string;
  /** Text without the blanks that codes ignore. */
  trimmed(text: string): string;
  /** The number in a text cell by the grammar of policy/number-text.ts, else NULL. */
  readonly numberInText: (text: string) => string;
  /** Whether a double has a place on a grid. */
  readonly presentIn: (real: string, grid: Grid) => string;
  /** The place of a double that has one. */
  readonly placeIn: (real: string, grid: Grid) => string;
  /** A double from 0 to 2^51 as the nearest whole one, halves to even: adding 2^52 leaves no digit behind the point, and rounds as every addition does. */
  nearestReal(real: string): string;
  /** The trimmed parts of a text as a list; an empty list for NULL. */
  parts(text: string, separator: string): string;
  hasAny(list: string, items: readonly string[]): string;
  digest(text: string): string;
  /** The name in a cell. */
  readonly name: NameExpression;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const blanks = `' ' || chr(9) || chr(13) || chr(10)`;

const duckdb: Dialect = {
  identifier: quoted,
  trimmed: (text) => `trim(${text}, ${blanks})`,
  numberInText: (text) => numberInText(text),
  presentIn,
  placeIn,
  nearestReal: (x) => `(${x} + ${real(2 ** 52)}) - ${real(2 ** 52)}`,
  parts: (text, separator) =>
    `coalesce(list_transform(string_split(${text}, ${separator}), lambda part: trim(part, ${blanks})), CAST([] AS VARCHAR[]))`,
  hasAny: (list, items) => (items.length === 0 ? 'false' : `list_has_any(${list}, [${items.join(', ')}])`),
  digest: (text) => `md5(${text})`,
  name: nameReader('duckdb'),
};

const dialects: Readonly<Record<string, Dialect>> = { duckdb };
export function dialectNamed(name: string): Dialect {
  const found = dialects[name];
  if (found) return found;
  throw new Fault('QUERY_UNSUPPORTED', `Queries cannot yet run on ${name}.`, 'Use a CSV, Parquet or DuckDB file.');
}

/** Collects the values bound to a statement. */
export class Binder {
  readonly values: Statement['values'][number][] = [];
  text(value: string): string {
    this.values.push(value);
    return `CAST($${this.values.length} AS VARCHAR)`;
  }
  readonly real = real;
}
