import type { Dialect } from '../../data/engine/dialect.js';
import type { Snapshot, SourceColumn, Statement } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import { quoteName } from '../../data/engine/structure.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import type { Column, Policy } from '../../policy/policy.js';
import { rowSource } from './chosen-rows.js';
import { columnView } from './column-view.js';
import { Binder, boundedRowsSql, type RowSource } from './contribution-bound.js';
import { numberExpression, rawCell, sourceColumn } from './read-column.js';

export interface StreamStatement {
  readonly statement: Statement;
  readonly columns: readonly string[];
  /** Columns with raw text, and the largest length of it. */
  readonly written: ReadonlyMap<string, number>;
}

/**
 * Raw columns for counting in TypeScript, cells in the order of `columns`. `asWritten`: text not yet normalised to codes.
 * `names`: columns with the person of a row, after the others, as names.
 */
export function compileStream(
  columns: readonly string[],
  of: RowSource,
  { asWritten = false, names = [] }: { readonly asWritten?: boolean; readonly names?: readonly string[] } = {},
): StreamStatement {
  const { dialect, policy, columns: source } = of;
  const binder = new Binder(dialect);
  const named = new Map(source.map((column) => [column.name, column]));
  const written = new Map<string, number>();
  const list = columns.map((name, i) => {
    const column = named.get(name) ?? sourceColumn(source, name);
    if (asWritten && column.written) {
      written.set(name, column.written.longest);
      return [quoteName(column.written.column), `c${i}`] as const;
    }
    return [streamedCell(dialect, declaredColumn(policy, name), column), `c${i}`] as const;
  });
  const keys = names.map((name, i) => {
    const column = sourceColumn(source, name);
    return [dialect.name(rawCell(column), column.type), `n${i}`] as const;
  });
  const sql = boundedRowsSql(of, binder, [...list, ...keys]);
  const everyRow = policy.protect.secret === 'person' ? {} : { everyRow: true as const };
  return { statement: { sql, values: binder.values, ...everyRow }, columns, written };
}

const streamedCell = (dialect: Dialect, declared: Column, column: SourceColumn): string => {
  if (!isCoded(declared)) return numberExpression(dialect, column, declared.decimal);
  return column.coded === undefined ? rawCell(column) : quoteName(column.coded);
};

/** Rows of a table, cut to `maxRows` per person, as domain indices (codes) and grid positions (numbers); -1 is missing. */
export interface ColumnIndices {
  readonly rows: number;
  /** One array per requested column; valid until the next block is read. */
  readonly columns: readonly Float64Array[];
}

export async function* streamIndices(
  engine: Snapshot,
  policy: Policy,
  names: readonly string[],
): AsyncIterable<Exact<ColumnIndices>> {
  const { statement, columns } = compileStream([...new Set(names)], await rowSource(engine, policy));
  const views = columns.map((name) => columnView(declaredColumn(policy, name)));
  const requested = names.map((name) => views[columns.indexOf(name)]!);
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    views.forEach((view, c) => {
      view.load(chunk.columns[c]!, chunk.rows);
    });
    yield new Exact({ rows: chunk.rows, columns: requested.map((view) => view.indices()) });
  }
}
