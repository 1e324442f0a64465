import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { writeWhole } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { rmSync, statSync, utimesSync } from '../../base/platform/files.js';
import { hostname } from '../../base/platform/host.js';
import { join } from '../../base/platform/paths.js';

const form = z.strictObject({ pid: z.number().int().positive(), host: z.string() });
/** Age at which a writer counts as gone: it renews its file every second, unlike a dead process or one that reuses its number. */
const silentAfter = 60_000;

/**
 * Guard against two writers, which would break the chain of the log as if somebody had changed it. Detects them on one machine
 * only; a killed process blocks nobody.
 */
export class WriterLock {
  readonly #file: string;
  constructor(folder: string) {
    this.#file = join(folder, 'writer.json');
    const found = readBeat(this.#file);
    if (found && found.host === hostname() && found.pid !== process.pid && isAlive(found.pid))
      throw new Fault(
        'USAGE',
        'Another process writes to this log.',
        'Give each process a name of its own, for example --name second, or another --log.',
      );
    writeWhole(this.#file, `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`, {
      hint: 'The folder of the audit log must be writable.',
      mode: 0o600,
    });
  }

  /** Renews the writer's file. */
  beat(now = new Date()): void {
    try {
      utimesSync(this.#file, now, now);
    } catch {}
  }

  close(): void {
    rmSync(this.#file, { force: true });
  }
}

function readBeat(file: string): z.output<typeof form> | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found || Date.now() - found.mtimeMs > silentAfter) return undefined;
  try {
    const gone = () => new Fault('DATA_MALFORMED', 'Who writes the log cannot be read.', 'Remove writer.json from its folder.');
    return form.safeParse(parseJson(readNamedText(file, 'policyBytes', gone), { file })).data;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
