import { Fault, type FaultCode } from '../../base/errors.js';
import { existsSync } from '../../base/platform/files.js';
import { fileURLToPath } from '../../base/platform/paths.js';
import { Worker } from '../../base/platform/workers.js';
import type { WorkerTask } from './worker-task.js';

export type WorkerReply =
  | { readonly result: object }
  | {
      readonly fault: {
        readonly code: FaultCode;
        readonly message: string;
        readonly hint: string;
        readonly details: Readonly<Record<string, number | string>>;
      };
    };

const script = new URL('./aside-worker.js', import.meta.url);
/** Idle threads kept for the next task, since starting one takes as long as a small task. They do not keep the process alive. */
const idle: Worker[] = [];
const mostIdle = 2;

function startWorker(): Worker {
  const worker = new Worker(script);
  worker.unref();
  for (const event of ['error', 'exit'])
    worker.once(event, () => {
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
    });
  return worker;
}

/**
 * Computes a task on a thread of its own, so that short requests need not wait; on this thread when running from uncompiled
 * source.
 */
export async function runInWorker(task: WorkerTask): Promise<object> {
  if (!existsSync(fileURLToPath(script))) return (await import('./worker-task.js')).runWorkerTask(task);
  const reply = await new Promise<WorkerReply>((done, failed) => {
    const worker = idle.pop() ?? startWorker();
    const gone = () => failed(stopped());
    worker.once('error', failed);
    worker.once('exit', gone);
    worker.once('message', (received: WorkerReply) => {
      // Listeners are removed one by one: the thread itself has some, too.
      worker.off('error', failed);
      worker.off('exit', gone);
      if (idle.length < mostIdle) idle.push(worker);
      else void worker.terminate();
      done(received);
    });
    worker.postMessage(task);
  });
  if ('result' in reply) return reply.result;
  const { code, message, hint, details } = reply.fault;
  throw new Fault(code, message, hint, { details: { ...details } });
}

const stopped = (): Fault => new Fault('INTERNAL', 'The computation ended early.', 'Ask again.');
