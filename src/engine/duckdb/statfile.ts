import { DOUBLE, type DuckDBConnection, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import { openStatFile, type StatBlock, type StatCell, type Variable } from '../../statfile/statfile.js';
import type { SourceColumn } from '../engine.js';

type Loaded = Pick<SourceColumn, 'name'> & { readonly type: 'text' | 'real' };

/** By the dictionary alone, so that no cell decides how another is shown. */
const typeOf = ({ kind, missing }: Variable): Loaded['type'] =>
  kind === 'number' && missing.every((code) => Number.isFinite(Number(code))) ? 'real' : 'text';

/** Fills a table with the rows of a survey file, a block at a time; whatever does not fit the memory of the database, it spills. */
export async function loadStatFile(
  connection: DuckDBConnection,
  path: string,
  table: string | undefined,
  into: string,
): Promise<readonly Loaded[]> {
  const file = await openStatFile(path, table === undefined ? {} : { table });
  try {
    const columns = file.variables.map((v): Loaded => ({ name: v.name, type: typeOf(v) }));
    const listed = columns.map((c) => `"${c.name.replaceAll('"', '""')}" ${c.type === 'real' ? 'DOUBLE' : 'VARCHAR'}`);
    await connection.run(`CREATE OR REPLACE TABLE ${into} (${listed.join(', ')})`);
    await append(connection, into, columns, file.blocks()).catch(async (error) => {
      await connection.run(`DROP TABLE ${into}`);
      throw error;
    });
    return columns;
  } finally {
    await file.close();
  }
}

/** Cells that are handed over at once: less is slow, more is held beside the table. */
const mostWaiting = 1 << 20;

async function append(
  connection: DuckDBConnection,
  into: string,
  columns: readonly Loaded[],
  blocks: AsyncIterable<StatBlock>,
): Promise<void> {
  const types = columns.map((c) => (c.type === 'real' ? DOUBLE : VARCHAR));
  const appender = await connection.createAppender(into);
  let waiting = 0;
  try {
    for await (const block of blocks) {
      const chunk = DuckDBDataChunk.create(types);
      chunk.setColumns(block.map((cells, c) => (columns[c]!.type === 'real' ? cells : cells.map(asText))));
      appender.appendDataChunk(chunk);
      waiting += chunk.rowCount * columns.length;
      if (waiting < mostWaiting) continue;
      appender.flushSync();
      waiting = 0;
    }
  } finally {
    appender.closeSync();
  }
}

const asText = (cell: StatCell): string | null => (typeof cell === 'number' ? String(cell) : cell);
