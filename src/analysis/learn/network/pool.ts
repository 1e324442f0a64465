import { Fault } from '../../../base/errors.js';
import { existsSync } from '../../../base/platform/files.js';
import { availableParallelism } from '../../../base/platform/host.js';
import { fileURLToPath } from '../../../base/platform/paths.js';
import { Worker } from '../../../base/platform/workers.js';
import type { Structure } from './best-structure.js';
import type { CodedTable } from './coded.js';
import type { ChunkLearning } from './learn-chunks.js';

/** Input of one worker job. The table and the counter are shared memory; chunks are taken by incrementing the counter. */
export interface ChunkJob {
  readonly job: number;
  readonly levels: readonly number[];
  readonly rows: number;
  readonly codes: SharedArrayBuffer;
  readonly chunks: readonly (readonly number[])[];
  readonly maxParents: number | undefined;
  readonly next: SharedArrayBuffer;
}
export type ChunkReply =
  | { readonly job: number; readonly chunk: number; readonly structure: Structure }
  | { readonly job: number; readonly finished: true }
  | { readonly job: number; readonly failed: string };

const workerScript = (): URL => new URL('./chunk-worker.js', import.meta.url);
const workers: Worker[] = [];
let jobs = 0;

/** Workers live as long as the process and do not keep it alive. */
function resident(count: number): readonly Worker[] {
  while (workers.length < count) {
    const worker = new Worker(workerScript());
    worker.unref();
    worker.setMaxListeners(0);
    worker.once('error', () => workers.splice(workers.indexOf(worker), 1));
    workers.push(worker);
  }
  return workers.slice(0, count);
}

/** Undefined without a compiled worker next to this file (running from source), or if there is only one chunk. */
export function learnInPool(
  table: CodedTable,
  chunks: readonly (readonly number[])[],
  options: ChunkLearning,
): Promise<readonly Structure[]> | undefined {
  if (chunks.length < 2 || !existsSync(fileURLToPath(workerScript()))) return undefined;
  const threads = Math.min(options.threads ?? availableParallelism(), chunks.length);
  const message: ChunkJob = {
    job: ++jobs,
    levels: table.levels,
    rows: table.rows,
    codes: shareCodes(table),
    chunks,
    maxParents: options.maxParents,
    next: new SharedArrayBuffer(4),
  };
  return new Promise((resolve, reject) => {
    const structures: Structure[] = new Array(chunks.length);
    let done = 0;
    let running = threads;
    const crew = resident(threads);
    for (const worker of crew) worker.ref();
    const settle = (action: () => void): void => {
      for (const worker of crew) {
        worker.off('message', receive);
        worker.off('error', crash);
        worker.unref();
      }
      action();
    };
    const crash = (): void =>
      settle(() =>
        reject(
          new Fault('INTERNAL', 'A learning thread stopped.', 'Try again with fewer columns per chunk, or learn in one thread.'),
        ),
      );
    const receive = (reply: ChunkReply): void => {
      if (reply.job !== message.job) return;
      if ('failed' in reply) crash();
      else if ('finished' in reply) {
        if (--running === 0) settle(() => resolve(structures));
      } else {
        structures[reply.chunk] = reply.structure;
        options.progress?.(++done, chunks.length);
      }
    };
    for (const worker of crew) {
      worker.on('message', receive);
      worker.on('error', crash);
      worker.postMessage(message);
    }
  });
}

function shareCodes(table: CodedTable): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(table.columns.length * table.rows * 2);
  const all = new Uint16Array(shared);
  table.columns.forEach((codes, c) => {
    all.set(codes, c * table.rows);
  });
  return shared;
}
