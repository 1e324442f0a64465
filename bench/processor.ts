import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in which Linux counts processor time. */
const perSecond = 100;

interface Told {
  readonly parent: number;
  /** Its own seconds, and those of children that have ended. */
  readonly seconds: number;
}
function told(pid: number | string): Told | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), seconds: fields.slice(11, 15).reduce((sum, n) => sum + Number(n), 0) / perSecond };
  } catch {
    return undefined;
  }
}

/** Parent of a process. */
export const parentOf = (pid: number): number | undefined => told(pid)?.parent;

/**
 * Processor seconds used by these processes and all their children, independent of other load on the machine.
 * Undefined where the system does not report them.
 */
export function processorSeconds(roots: readonly number[]): number | undefined {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  const all = new Map(pids.map((pid) => [Number(pid), told(pid)]));
  const within = (pid: number): boolean =>
    roots.includes(pid) || ((all.get(pid)?.parent ?? 0) > 1 && within(all.get(pid)!.parent));
  let sum = 0;
  for (const [pid, own] of all) if (own && within(pid)) sum += own.seconds;
  return sum > 0 ? sum : undefined;
}
