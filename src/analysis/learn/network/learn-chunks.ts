import { bestStructure, type Structure } from './best-structure.js';
import { type CodedTable, chooseColumns } from './coded.js';
import { learnInPool } from './pool.js';

export interface ChunkLearning {
  readonly maxParents?: number;
  /** Called after each chunk with the number done so far. */
  readonly progress?: (done: number, total: number) => void;
  /** Worker threads; 0 learns in the calling thread. */
  readonly threads?: number;
}

/** The best network of every chunk of columns; independent chunks are distributed over a resident worker pool. */
export async function learnChunks(
  table: CodedTable,
  chunks: readonly (readonly number[])[],
  options: ChunkLearning = {},
): Promise<readonly Structure[]> {
  const pooled = options.threads === 0 ? undefined : await learnInPool(table, chunks, options);
  if (pooled) return pooled;
  return chunks.map((chunk, i) => {
    const structure = bestStructure(chooseColumns(table, chunk), options.maxParents);
    options.progress?.(i + 1, chunks.length);
    return structure;
  });
}
