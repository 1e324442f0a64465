import { Fault } from '../../base/errors.js';
import { type AppendLog, appendLines } from '../../base/files/append-lines.js';
import { makeFolder } from '../../base/files/folder.js';
import { readNamedText } from '../../base/input/named-file.js';
import { existsSync, readdirSync } from '../../base/platform/files.js';
import { sha256 } from '../../base/platform/hash.js';
import { join } from '../../base/platform/paths.js';
import { WriterLock } from './writer-lock.js';

/** Log record of one request: caller, action and result. Never an answer or a value of the data; of the question only a digest. */
export interface AuditEvent {
  readonly at: string;
  readonly request: string;
  /** Public part of the token; absent for an unknown caller. */
  readonly token?: string;
  readonly name?: string;
  readonly role?: string;
  readonly action: string;
  readonly policy?: string;
  readonly asked?: string;
  readonly status: number;
  readonly fault?: string;
  readonly entry?: number;
  readonly milliseconds: number;
  /** Number of refusals before this one without a line: unknown callers and too frequent requests must not fill a disk. */
  readonly leftOut?: number;
}

const start = '0'.repeat(64);
const hashOf = (previous: string, text: string): string => sha256(`${previous}\n${text}`);
/** Size at which a file is closed: verification reads files as a whole. */
const fullAt = 8 * 2 ** 20;
const fileForm = /^\d{8}\.jsonl$/;
const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((f) => fileForm.test(f))
        .sort()
    : [];

/**
 * Append-only lines, chained by hashes over files in sequence. Every process start begins a new file, so a line torn by a power
 * cut stays and is reported. One process writes to a folder.
 */
export class AuditLog {
  readonly #folder: string;
  readonly #writer: WriterLock;
  #lines: AppendLog;
  #size = 0;
  #number: number;
  #previous: string;

  constructor(folder: string) {
    this.#folder = folder;
    makeFolder(folder, 0o700);
    this.#writer = new WriterLock(folder);
    this.#previous = verifyAuditLog(folder).head;
    this.#number = Number(filesIn(folder).at(-1)?.slice(0, 8) ?? '0') + 1;
    this.#lines = this.#begin();
  }

  add(event: AuditEvent): void {
    if (this.#size > fullAt) {
      this.#end();
      this.#number++;
      this.#lines = this.#begin();
    }
    const previous = this.#previous;
    const hash = hashOf(previous, JSON.stringify(event));
    const line = JSON.stringify({ ...event, previous, hash });
    this.#lines.add(line);
    this.#size += line.length;
    this.#previous = hash;
  }

  sync(): void {
    this.#writer.beat();
    this.#lines.sync();
  }

  close(): void {
    this.#end();
    this.#writer.close();
  }

  #end(): void {
    this.#lines.sync();
    this.#lines.close();
  }

  #begin(): AppendLog {
    this.#size = 0;
    return appendLines(
      join(this.#folder, `${String(this.#number).padStart(8, '0')}.jsonl`),
      'The folder of the audit log must be writable.',
    );
  }
}

export interface VerifiedLog {
  readonly events: number;
  /** Hash of the last event. */
  readonly head: string;
  /** Files whose last line is incomplete. */
  readonly torn: readonly string[];
}

/** Verifies the lines; a fault where one was changed, removed or inserted. Only a stored head reveals lines missing at the end. */
export function verifyAuditLog(folder: string): VerifiedLog {
  let [previous, events] = [start, 0];
  const torn: string[] = [];
  for (const name of filesIn(folder)) {
    const file = join(folder, name);
    const broken = (line: number) =>
      new Fault(
        'LEDGER_CORRUPT',
        'A line of the audit log does not follow from the one before.',
        'Somebody changed it. Keep the folder as evidence and let the service begin another.',
        { place: { file, line } },
      );
    const lines = readNamedText(file, 'tableBytes', () => broken(1)).split('\n');
    if (lines.pop() !== '') torn.push(name);
    for (const [k, line] of lines.entries()) {
      const found = linkOf(line);
      if (found?.previous !== previous || found.hash !== hashOf(previous, found.event)) throw broken(k + 1);
      previous = found.hash;
      events++;
    }
  }
  return { events, head: previous, torn };
}

function linkOf(line: string): { readonly event: string; readonly previous: string; readonly hash: string } | undefined {
  try {
    const { previous, hash, ...event } = JSON.parse(line);
    // A line may hold only what its hash covers: no duplicate name, no extra blank.
    return line === JSON.stringify({ ...event, previous, hash }) ? { event: JSON.stringify(event), previous, hash } : undefined;
  } catch {
    return undefined;
  }
}
