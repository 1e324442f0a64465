import { sha256 } from '../../base/platform/hash.js';
import type { Cell, Chunk, Snapshot, Statement } from './engine.js';

/**
 * Reads the ties that the attacker is declared to know. The only interface through which
 * values leave the engine without noise; they may determine noise scales and nothing else.
 */
export async function* readBlocks(engine: Snapshot, statement: Statement): AsyncGenerator<Chunk> {
  for await (const chunk of engine.stream(statement)) yield chunk.open();
}

/** The same row by row, for what is small. */
export async function* readStructure(engine: Snapshot, statement: Statement): AsyncGenerator<readonly Cell[]> {
  for await (const { rows, columns } of readBlocks(engine, statement))
    for (let r = 0; r < rows; r++) yield columns.map((column) => column[r] ?? null);
}

export const countStructure = async (engine: Snapshot, statement: Statement): Promise<number> =>
  (await engine.count(statement)).open();

/** View of a relation. A database may fold the case of names and truncate long ones: an ambiguous name is replaced by its digest. */
export const relationView = (name: string): string => `fugu_relation_${plainName(name)}`;
export const tableView = (name: string): string => `fugu_table_${plainName(name)}`;
const plainName = (name: string): string => (/^[a-z0-9_]{1,32}$/.test(name) ? name : `_${sha256(name).slice(0, 32)}`);

/** Text from the policy as an SQL literal, valid in every database. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** An expression where it is one of these, NULL otherwise. */
export const oneOf = (read: string, texts: readonly string[]): string =>
  `CASE WHEN ${read} IN (${texts.map(quoteText).join(', ')}) THEN ${read} END`;
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
