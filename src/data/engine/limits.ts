import { Fault } from '../../base/errors.js';
import { databaseShare } from '../../base/input/limits.js';
import { availableParallelism, totalmem } from '../../base/platform/host.js';
import type { EngineLimits } from './engine.js';

const mib = 1024 ** 2;
const gib = 1024 ** 3;
/** Below this a database cannot even read one row group. */
const leastMemory = 64 * mib;

/** The memory of the machine, or of the container this runs in. */
function machineMemory(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}

/** FUGU_MEMORY, as in 512MB or 2GB. */
function wantedMemory(text = process.env.FUGU_MEMORY): number | undefined {
  if (text === undefined || text === '') return undefined;
  const [, size, unit] = /^(\d{1,6}(?:\.\d+)?) ?([MG])(?:i?B)?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(size) * (unit?.toUpperCase() === 'G' ? gib : mib));
  if (!(bytes >= leastMemory))
    throw new Fault('USAGE', 'FUGU_MEMORY is not a usable size.', 'Write it like 512MB or 2GB; at least 64MB are needed.');
  return bytes;
}

/** FUGU_DEADLINE, as in 90s, 10m or 2h, in milliseconds: of a whole release, of which one statement may take all. */
function wantedTime(text = process.env.FUGU_DEADLINE): number | undefined {
  if (text === undefined || text === '') return undefined;
  const [, count, unit] = /^([1-9]\d{0,5}) ?([smh])$/.exec(text.trim()) ?? [];
  const time = Number(count) * { s: 1000, m: 60_000, h: 3_600_000 }[(unit ?? 's') as 's' | 'm' | 'h'];
  if (time > 0 && time <= longestTime) return time;
  throw new Fault('USAGE', 'FUGU_DEADLINE is not a usable time.', 'Write it like 90s, 10m or 2h; at most a week.');
}
const longestTime = 7 * 24 * 3_600_000;

/**
 * Default limits: FUGU_MEMORY, or at most half of the memory; ten minutes per statement and an hour
 * per release, or FUGU_DEADLINE. More than 4 GiB help no database here, but ties may need them.
 */
export function defaultLimits(): EngineLimits {
  const allowed = wantedMemory() ?? Math.floor(machineMemory() / 2);
  return {
    memory: wantedMemory() ?? Math.min(4 * gib, allowed),
    room: allowed,
    spill: 16 * gib,
    deadline: wantedTime() ?? 600_000,
    release: wantedTime() ?? 3_600_000,
    threads: availableParallelism(),
  };
}

/** With ties between records declared, what is allowed is shared by the database and the ties that are read from it. */
export function sharedWithTies(limits: EngineLimits): EngineLimits {
  const part = Math.floor(limits.memory * databaseShare);
  return { ...limits, memory: Math.max(leastMemory, part), room: (limits.room ?? limits.memory) - part };
}
