import { createHash } from 'node:crypto';
import type { Cell, Chunk, Pinned, Statement } from './engine.js';

/**
 * Reads what the steward declared to be known to the attacker: who is tied to whom. The one door through which values leave the engine
 * without noise; they may set noise scales and nothing else.
 */
export async function* readBlocks(engine: Pinned, statement: Statement): AsyncGenerator<Chunk> {
  for await (const chunk of engine.stream(statement)) yield chunk.open();
}

/** The same row by row, for what is small. */
export async function* readStructure(engine: Pinned, statement: Statement): AsyncGenerator<readonly Cell[]> {
  for await (const { rows, columns } of readBlocks(engine, statement))
    for (let r = 0; r < rows; r++) yield columns.map((column) => column[r] ?? null);
}

/** How many rows of structure there are to read. */
export const countStructure = async (engine: Pinned, statement: Statement): Promise<number> =>
  (await engine.count(statement)).open();

/** The view of a relation. A database may fold the case of names and cut long ones: whatever could be mistaken for another is told by a digest. */
export const relationView = (name: string): string => `fugu_relation_${plainName(name)}`;
/** The same of a table beside the data. */
export const tableView = (name: string): string => `fugu_table_${plainName(name)}`;
const plainName = (name: string): string =>
  /^[a-z0-9_]{1,32}$/.test(name) ? name : `_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

/** A text that the policy says, as a literal of every database. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** An expression where it is one of these, NULL otherwise. */
export const oneOf = (read: string, texts: readonly string[]): string =>
  `CASE WHEN ${read} IN (${texts.map(quoteText).join(', ')}) THEN ${read} END`;
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
