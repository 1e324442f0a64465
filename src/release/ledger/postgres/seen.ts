import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from '../../../base/platform/files.js';
import { sha256 } from '../../../base/platform/hash.js';
import { homedir } from '../../../base/platform/host.js';
import { dirname, join } from '../../../base/platform/paths.js';
import { canonicalAddress } from '../../../policy/address.js';

/** Furthest state of a chain that this machine has seen, and the recoveries before it. */
export interface SeenChain {
  readonly sequence: number;
  readonly hash: string;
  /** Hashes of the recovery links, by which a steward accepted that entries may be lost. */
  readonly recovered: readonly string[];
  /** Those that were seen once and are lost now. */
  readonly former?: readonly string[];
}

/** Memory of a machine about a ledger that is stored elsewhere. */
export interface SeenMemory {
  readonly seen: () => SeenChain | undefined;
  readonly see: (now: SeenChain) => void;
}

/** True if there is a recovery that is not remembered; a chain that was only rolled back has none. */
export const isRecovered = ({ recovered, former = [] }: SeenChain, now: SeenChain): boolean =>
  now.recovered.some((hash) => !recovered.includes(hash) && !former.includes(hash));

/** The later of two states, with every recovery that was ever seen. */
function further(before: SeenChain | undefined, now: SeenChain | undefined): SeenChain | undefined {
  if (!before || !now) return before ?? now;
  const goesOn = now.sequence > before.sequence && before.recovered.every((hash) => now.recovered.includes(hash));
  const last = isRecovered(before, now) || goesOn ? now : before;
  const all = [before, now].flatMap(({ recovered, former = [] }) => [...recovered, ...former]);
  const former = [...new Set(all)].filter((hash) => !last.recovered.includes(hash));
  return { sequence: last.sequence, hash: last.hash, recovered: last.recovered, ...(former.length > 0 && { former }) };
}

/**
 * Memory in this process, and in a file for later ones: every machine that saw a later state notices a database that was
 * rolled back. If the file cannot be written only this process remembers; nothing else depends on it.
 */
export function memoryOf(place: string): SeenMemory {
  const name = `${sha256(canonicalAddress(place)).slice(0, 32)}.json`;
  const folder = stateFolder();
  const file = folder === undefined ? undefined : join(folder, 'fugu', 'ledgers', name);
  let own: SeenChain | undefined;
  const kept = (): SeenChain | undefined => {
    if (file === undefined) return undefined;
    try {
      const { sequence, hash, recovered, former } = JSON.parse(readFileSync(file, 'utf8')) as Noted;
      if (!Number.isSafeInteger(sequence) || typeof hash !== 'string') return undefined;
      return { sequence, hash, recovered: [recovered ?? []].flat(), ...(former && { former: [former].flat() }) };
    } catch {
      return undefined;
    }
  };
  const keep = (now: SeenChain): void => {
    if (file === undefined) return;
    const draft = `${file}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(draft, `${JSON.stringify(now)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    } catch {
      rmSync(draft, { force: true });
    }
  };
  return {
    seen: () => further(own, kept()),
    see: (now) => {
      const before = kept();
      const after = further(before, now)!;
      if (JSON.stringify(after) !== JSON.stringify(before)) keep(after);
      own = further(own, now);
    },
  };
}

/** Undefined for a user number without a name and a home, as in many containers. */
function stateFolder(): string | undefined {
  try {
    return process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  } catch {
    return undefined;
  }
}

/** Files of earlier versions hold the last recovery alone, or null. */
type Noted = Omit<SeenChain, 'recovered'> & { readonly recovered?: string | readonly string[] | null };
