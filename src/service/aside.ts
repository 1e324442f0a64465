import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultCode } from '../errors.js';
import type { AsideTask } from './aside-task.js';

export type AsideReply =
  | { readonly told: object }
  | {
      readonly fault: {
        readonly code: FaultCode;
        readonly message: string;
        readonly hint: string;
        readonly details: Readonly<Record<string, number | string>>;
      };
    };

const script = new URL('./aside-worker.js', import.meta.url);

/** Works a task out on a thread of its own, so that whoever asks for something short does not wait. Where nothing is compiled (running from source) on this one. */
export async function aside(task: AsideTask): Promise<object> {
  if (!existsSync(fileURLToPath(script))) return (await import('./aside-task.js')).runAside(task);
  const reply = await new Promise<AsideReply>((done, failed) => {
    const worker = new Worker(script, { workerData: task });
    worker.once('message', (said: AsideReply) => {
      done(said);
      void worker.terminate();
    });
    worker.once('error', failed);
    worker.once('exit', () => failed(stopped()));
  });
  if ('told' in reply) return reply.told;
  const { code, message, hint, details } = reply.fault;
  throw new Fault(code, message, hint, { details: { ...details } });
}

const stopped = (): Fault => new Fault('INTERNAL', 'What was worked out ended early.', 'Ask again.');
