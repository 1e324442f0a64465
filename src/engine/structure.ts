import type { Cell, Chunk, Engine, Statement } from './engine.js';

/**
 * Reads what the steward declared to be known to the attacker: who is tied to whom. The one door through which values leave the engine
 * without noise; they may set noise scales and nothing else.
 */
export async function* readBlocks(engine: Engine, statement: Statement): AsyncGenerator<Chunk> {
  for await (const chunk of engine.stream(statement)) yield chunk.open();
}

/** The same row by row, for what is small. */
export async function* readStructure(engine: Engine, statement: Statement): AsyncGenerator<readonly Cell[]> {
  for await (const { rows, columns } of readBlocks(engine, statement))
    for (let r = 0; r < rows; r++) yield columns.map((column) => column[r] ?? null);
}

/** How many rows of structure there are to read. */
export const countStructure = async (engine: Engine, statement: Statement): Promise<number> =>
  (await engine.count(statement)).open();

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
