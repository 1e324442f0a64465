import { parentPort, workerData } from 'node:worker_threads';
import { asFault } from '../release/outcome.js';
import type { AsideReply } from './aside.js';
import { type AsideTask, runAside } from './aside-task.js';

/** Run by aside.ts. */
const reply = (said: AsideReply): void => parentPort!.postMessage(said);
runAside(workerData as AsideTask).then(
  (told) => reply({ told }),
  (error: unknown) => {
    const { code, message, hint, details } = asFault(error);
    reply({ fault: { code, message, hint, details } });
  },
);
