import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** diffprivlib in a Python of its own (bench/peers/README.md). */
const python = process.env.FUGU_PEERS ?? 'python3';
const script = ['../../bench/peers/learn.py', '../../../bench/peers/learn.py']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/** Why there is no peer, if there is none. */
export function peerMissing(): Promise<string | undefined> {
  return new Promise((answer) => {
    execFile(python, ['-c', 'import diffprivlib'], (error) =>
      answer(error || !script ? `no diffprivlib for ${python} (bench/peers/README.md)` : undefined),
    );
  });
}

/** What the peer's script answers to a task. */
export function askPeer<T>(task: object): Promise<T> {
  return new Promise((answer, refuse) => {
    const child = spawn(python, [script!], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('error', refuse);
    child.on('close', (code) => (code === 0 ? answer(JSON.parse(text) as T) : refuse(new Error(`the peer ended with ${code}`))));
    child.stdin.end(JSON.stringify(task));
  });
}
