import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const child = fileURLToPath(new URL('./memory-child.mjs', import.meta.url));

export interface Held {
  readonly tables: readonly (readonly number[])[];
  /** The most that the process held. */
  readonly bytes: number;
}
/** One release in a process of its own (memory-child.mjs). */
export async function memoryOf(policy: string, queries: readonly object[]): Promise<Held> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, policy, JSON.stringify(queries)]);
  return JSON.parse(stdout) as Held;
}
