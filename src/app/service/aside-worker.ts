import { parentPort } from 'node:worker_threads';
import { asFault } from '../../release/session/outcome.js';
import type { AsideReply } from './aside.js';
import { type AsideTask, runAside } from './aside-task.js';

/** Run by aside.ts, one task after another. */
const reply = (said: AsideReply): void => parentPort!.postMessage(said);
parentPort!.on('message', (task: AsideTask) => {
  runAside(task).then(
    (told) => reply({ told }),
    (error: unknown) => {
      const { code, message, hint, details } = asFault(error);
      reply({ fault: { code, message, hint, details } });
    },
  );
});
