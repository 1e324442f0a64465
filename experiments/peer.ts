import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Libraries in a Python environment of their own, and the scripts that call them (bench/peers/README.md). */
const python = process.env.FUGU_PEERS ?? 'python3';
const scripts = { diffprivlib: 'learn.py', opendp: 'noise.py', igraph: 'graph.py' } as const;
type Library = keyof typeof scripts;
const scriptOf = (library: Library): string | undefined =>
  ['../bench/peers/', '../../bench/peers/']
    .map((folder) => fileURLToPath(new URL(`${folder}${scripts[library]}`, import.meta.url)))
    .find((path) => existsSync(path));

/** Reason why there is no peer; undefined if there is one. */
export function peerMissing(library: Library): Promise<string | undefined> {
  return new Promise((answer) => {
    execFile(python, ['-c', `import ${library}, numpy`], (error) =>
      answer(error || !scriptOf(library) ? `no ${library} for ${python} (bench/peers/README.md)` : undefined),
    );
  });
}

/** A library in a process of its own: one line of JSON for a task, one for its answer. */
export interface PeerProcess {
  ask<T>(task: object): Promise<T>;
  end(): void;
}
export function openPeer(library: Library): PeerProcess {
  const child = spawn(python, [scriptOf(library)!], { stdio: ['pipe', 'pipe', 'inherit'] });
  // A process that ends early is noticed by the end of its lines.
  for (const source of [child, child.stdin]) source.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask<T>(task: object): Promise<T> {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the peer ended with ${child.exitCode}`);
      return JSON.parse(value) as T;
    },
    end: () => void child.stdin.end(),
  };
}

/** Answer of the library's script to one task. */
export async function askPeer<T>(library: Library, task: object): Promise<T> {
  const peer = openPeer(library);
  try {
    return await peer.ask<T>(task);
  } finally {
    peer.end();
  }
}
