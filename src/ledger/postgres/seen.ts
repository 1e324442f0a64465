import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { canonicalAddress } from '../../policy/address.js';

/** How far this machine has seen a chain come, and after which recovery. */
export interface Seen {
  readonly sequence: number;
  readonly hash: string;
  /** Hash of the last link by which somebody took responsibility for what may be lost. */
  readonly recovered: string | null;
}

/** What a machine remembers of a ledger that it does not hold itself. */
export interface Memory {
  readonly seen: () => Seen | undefined;
  readonly see: (now: Seen) => void;
  /** Somebody took responsibility for what is lost. */
  readonly forget: (now: Seen) => void;
}

/**
 * In this process, and in a file for those to come: a database that was taken back to an earlier state is noticed by every machine that saw a later one. Where
 * the file cannot be written only this process remembers; nothing else depends on it.
 */
export function memoryOf(place: string): Memory {
  const file = join(
    process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'),
    'fugu',
    'ledgers',
    `${createHash('sha256').update(canonicalAddress(place)).digest('hex').slice(0, 32)}.json`,
  );
  let own: Seen | undefined;
  const kept = (): Seen | undefined => {
    try {
      const { sequence, hash, recovered } = JSON.parse(readFileSync(file, 'utf8')) as Seen;
      return Number.isSafeInteger(sequence) && typeof hash === 'string' ? { sequence, hash, recovered } : undefined;
    } catch {
      return undefined;
    }
  };
  const keep = (now: Seen): void => {
    own = now;
    const draft = `${file}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(draft, `${JSON.stringify(now)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    } catch {
      rmSync(draft, { force: true });
    }
  };
  const further = (a: Seen | undefined, b: Seen | undefined): Seen | undefined =>
    a && b ? (b.sequence > a.sequence || b.recovered !== a.recovered ? b : a) : (a ?? b);
  return {
    seen: () => further(own, kept()),
    see: (now) => {
      const before = kept();
      if (!before || before.recovered !== now.recovered || before.sequence < now.sequence) keep(now);
      else own = now;
    },
    forget: keep,
  };
}
