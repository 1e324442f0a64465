import { printJson, warnOf } from './output.js';
import { outcomes, processEnding } from './process-ending.js';

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
let stopping = false;
const handlers: Record<string, () => void> = {};

/** From here on a signal ends the process only after the budget outcome was reported; a second one ends it at once. */
export function listenForSignals(json: boolean): void {
  for (const signal of Object.keys(numbers) as (keyof typeof numbers)[]) {
    handlers[signal] = () => {
      if (stopping) end(signal, json);
      stopping = true;
      // Waits for a reservation that is being written: a moment later its outcome is known.
      void outcomes.written().then(() => end(signal, json));
    };
    process.on(signal, handlers[signal]);
  }
}

/** From here on another handler is responsible for signals. */
export function stopListening(): void {
  for (const [signal, listener] of Object.entries(handlers)) process.removeListener(signal, listener);
}

/** Temporary folders are removed with the process (data/engine/temp-folder.ts). */
function end(signal: keyof typeof numbers, json: boolean): never {
  const { lines, ...document } = processEnding();
  if (json) printJson({ stopped: signal, ...document });
  warnOf(`stopped by ${signal}.`, ...lines);
  process.exit(128 + numbers[signal]);
}
