import { availableParallelism, totalmem } from 'node:os';
import type { EngineLimits } from './engine.js';

const gib = 1024 ** 3;

/** What an engine may use when nobody says otherwise: at most half the machine's memory, ten minutes a statement. */
export const defaultLimits = (): EngineLimits => ({
  memory: Math.min(4 * gib, Math.floor(totalmem() / 2)),
  spill: 16 * gib,
  deadline: 600_000,
  threads: availableParallelism(),
});
