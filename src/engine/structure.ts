import type { Cell, Engine, Statement } from './engine.js';

/**
 * Reads what the steward declared to be known to the attacker: who is tied to whom. The one door through which values leave the engine
 * without noise; they may set noise scales and nothing else.
 */
export async function* readStructure(engine: Engine, statement: Statement): AsyncGenerator<readonly Cell[]> {
  for await (const chunk of engine.stream(statement)) {
    const { rows, columns } = chunk.open();
    for (let r = 0; r < rows; r++) yield columns.map((column) => column[r] ?? null);
  }
}

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
