import { parentPort } from '../../../base/platform/workers.js';
import { bestStructure } from './best-structure.js';
import type { ChunkJob, ChunkReply } from './pool.js';

const port = parentPort;
port?.on('message', (job: ChunkJob) => {
  const reply = (message: ChunkReply): void => port.postMessage(message);
  const next = new Int32Array(job.next);
  const all = new Uint16Array(job.codes);
  try {
    for (let i = Atomics.add(next, 0, 1); i < job.chunks.length; i = Atomics.add(next, 0, 1)) {
      const chunk = job.chunks[i]!;
      // a private copy: one chunk is small, and ordinary memory is faster to index than shared memory
      const table = {
        names: chunk.map(String),
        levels: chunk.map((c) => job.levels[c]!),
        rows: job.rows,
        columns: chunk.map((c) => Uint16Array.from(all.subarray(c * job.rows, (c + 1) * job.rows))),
      };
      reply({ job: job.job, chunk: i, structure: bestStructure(table, job.maxParents) });
    }
    reply({ job: job.job, finished: true });
  } catch {
    reply({ job: job.job, failed: 'learning failed' });
  }
});
