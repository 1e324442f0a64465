import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Longer than walking a million entries takes. */
const deadline = 600_000;

export interface Told {
  /** What the child printed; undefined when it died or took too long. */
  readonly said: string | undefined;
}

/**
 * Walks over a whole file run in a process of their own: on some damage the driver aborts the process, and that must be an answer, not the end of ours.
 * Tests run the sources; a child runs what was built from them.
 */
export function inChild(task: 'verify' | 'salvage', ...words: string[]): Told {
  const here = fileURLToPath(import.meta.url);
  const program = here.replace(/child\.js$/, 'child-main.js').replace(/src(.)ledger.child\.ts$/, 'dist$1ledger$1child-main.js');
  const { status, stdout } = spawnSync(process.execPath, [program, task, ...words], {
    encoding: 'utf8',
    timeout: deadline,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { said: status === 0 ? stdout : undefined };
}
