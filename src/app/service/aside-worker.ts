import { parentPort } from '../../base/platform/workers.js';
import { asFault } from '../../release/session/outcome.js';
import type { WorkerReply } from './worker.js';
import { runWorkerTask, type WorkerTask } from './worker-task.js';

/** Run by worker.ts, one task after another. */
const reply = (message: WorkerReply): void => parentPort!.postMessage(message);
parentPort!.on('message', (task: WorkerTask) => {
  runWorkerTask(task).then(
    (result) => reply({ result }),
    (error: unknown) => {
      const { code, message, hint, details } = asFault(error);
      reply({ fault: { code, message, hint, details } });
    },
  );
});
