import { parentPort } from 'node:worker_threads';
import { asFault } from '../../release/session/outcome.js';
import type { WorkerReply } from './aside.js';
import { runWorkerTask, type WorkerTask } from './aside-task.js';

/** Run by aside.ts, one task after another. */
const reply = (message: WorkerReply): void => parentPort!.postMessage(message);
parentPort!.on('message', (task: WorkerTask) => {
  runWorkerTask(task).then(
    (result) => reply({ told: result }),
    (error: unknown) => {
      const { code, message, hint, details } = asFault(error);
      reply({ fault: { code, message, hint, details } });
    },
  );
});
