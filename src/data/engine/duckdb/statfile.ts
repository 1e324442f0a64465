import { DOUBLE, type DuckDBConnection, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import { openStatFile, type StatBlock, type StatCell, type StatVariable } from '../../statfile/statfile.js';
import { longestIn } from '../csv/cut.js';
import type { SourceColumn } from '../engine.js';
import { quoteName } from '../structure.js';

type Loaded = Pick<SourceColumn, 'name'> & { readonly type: 'text' | 'real' };

/** By the dictionary alone, so that no cell decides how another is shown. */
const typeOf = ({ kind, missing }: StatVariable): Loaded['type'] =>
  kind === 'number' && missing.every((code) => Number.isFinite(Number(code))) ? 'real' : 'text';

/** Fills a table with the rows of a survey file, block by block; the database spills whatever exceeds its memory. */
export async function loadStatFile(
  connection: DuckDBConnection,
  path: string,
  table: string | undefined,
  into: string,
): Promise<readonly Loaded[]> {
  const file = await openStatFile(path, table === undefined ? {} : { table });
  try {
    const columns = file.variables.map((v): Loaded => ({ name: v.name, type: typeOf(v) }));
    const listed = columns.map((c) => `${quoteName(c.name)} ${c.type === 'real' ? 'DOUBLE' : 'VARCHAR'}`);
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

/** Limits on cells and letters per append: fewer are slow, more take memory in addition to the table. */
const mostWaiting = 1 << 20;
const mostLetters = 1 << 23;

async function append(
  connection: DuckDBConnection,
  into: string,
  columns: readonly Loaded[],
  blocks: AsyncIterable<StatBlock>,
): Promise<void> {
  const types = columns.map((c) => (c.type === 'real' ? DOUBLE : VARCHAR));
  const asText = textOf(longestIn(columns.length));
  const appender = await connection.createAppender(into);
  let [waiting, letters] = [0, 0];
  try {
    for await (const block of blocks)
      for (const part of inParts(block.map((cells, c) => (columns[c]!.type === 'real' ? cells : cells.map(asText))))) {
        const chunk = DuckDBDataChunk.create(types);
        chunk.setColumns(part.block);
        appender.appendDataChunk(chunk);
        waiting += chunk.rowCount * columns.length;
        letters += part.letters;
        if (waiting < mostWaiting && letters < mostLetters) continue;
        appender.flushSync();
        waiting = letters = 0;
      }
  } finally {
    appender.closeSync();
  }
}

/** A text that is too long is missing, whatever its content: one shared string of a workbook may be in every cell. */
const textOf =
  (longest: number) =>
  (cell: StatCell): string | null => {
    const text = typeof cell === 'number' ? String(cell) : cell;
    if (text === null || text.length * 3 <= longest) return text;
    return text.length > longest || Buffer.byteLength(text) > longest ? null : text;
  };

/** Rows of a block, no more at once than have about `mostLetters`. */
function* inParts(block: StatBlock): Generator<{ readonly block: StatBlock; readonly letters: number }> {
  const rows = block[0]!.length;
  let [from, letters] = [0, 0];
  for (let row = 0; row < rows; row++) {
    for (const cells of block) {
      const cell = cells[row];
      if (typeof cell === 'string') letters += cell.length;
    }
    if (letters < mostLetters && row < rows - 1) continue;
    yield { block: from === 0 && row === rows - 1 ? block : block.map((cells) => cells.slice(from, row + 1)), letters };
    [from, letters] = [row + 1, 0];
  }
}
