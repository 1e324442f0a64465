import { type ChildProcess, spawn } from 'node:child_process';
import { mainFile } from '../fugu.js';
import { type Answered, askOver } from './served.js';

/** `fugu serve` as its steward runs it: a process of its own. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** From the start of the process to the first answer, in milliseconds. */
  readonly startedIn: number;
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export async function startService(
  folder: string,
  words: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServiceProcess> {
  const began = performance.now();
  const child = spawn(process.execPath, [mainFile, 'serve', 'town.yaml', '--port', '0', '--json', '--no-link', ...words], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | NodeJS.Signals | null>((done) => child.on('exit', (code, signal) => done(code ?? signal)));
  let [out, errors] = ['', ''];
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const url = await Promise.race([
    new Promise<string>((done) => {
      child.stdout.on('data', (text) => {
        out += text;
        const found = /"url": "([^"]+)"/.exec(out)?.[1];
        if (found) done(found);
      });
    }),
    ended.then((code) => {
      throw new Error(`the service ended with ${code}: ${errors}${out}`);
    }),
  ]);
  if ((await askOver(url, undefined, '/health/ready')).status !== 200) throw new Error('it listens and is not ready');
  return { child, url, startedIn: performance.now() - began, ended };
}

/** The answer, or undefined where the connection broke. */
export const tried = async (url: string, token: string, path: string, body?: unknown): Promise<Answered | undefined> =>
  askOver(url, token, path, body).catch(() => undefined);
