import type { EngineLimits } from './engine.js';

/** Milliseconds that the next statement may take. */
export type TimeLeft = () => number;

/** The time of one release begins now: every statement ends with it, however many there are. */
export function timeLeft({ deadline, release }: Pick<EngineLimits, 'deadline' | 'release'>): TimeLeft {
  const until = performance.now() + release;
  return () => Math.max(0, Math.min(deadline, until - performance.now()));
}
