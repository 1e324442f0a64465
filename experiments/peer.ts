import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
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

/** Answer of the library's script to a task. */
export function askPeer<T>(library: Library, task: object): Promise<T> {
  return new Promise((answer, refuse) => {
    const child = spawn(python, [scriptOf(library)!], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('error', refuse);
    child.on('close', (code) => (code === 0 ? answer(JSON.parse(text) as T) : refuse(new Error(`the peer ended with ${code}`))));
    child.stdin.end(JSON.stringify(task));
  });
}
