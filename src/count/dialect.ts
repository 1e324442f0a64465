import { numberInText } from '../engine/duckdb/number.js';
import type { Statement } from '../engine/engine.js';
import { type NameExpression, nameReader } from '../engine/name.js';
import { Fault } from '../errors.js';

/** The few places where databases differ. Expressions in, expressions out; none of them can fail on data. */
export interface Dialect {
  identifier(name: string): string;
  /** Text without the blanks that codes ignore. */
  trimmed(text: string): string;
  /** The number in a text cell by the grammar of policy/number-text.ts, else NULL. */
  readonly numberInText: (text: string) => string;
  /** A double as the nearest integer, halves to even. */
  nearest(real: string): string;
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
  numberInText,
  nearest: (real) => `TRY_CAST(${real} AS BIGINT)`,
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
  /** Doubles go through text: a literal such as 0.1 would be read as a decimal. */
  readonly real = (x: number): string => `CAST('${x}' AS DOUBLE)`;
}
