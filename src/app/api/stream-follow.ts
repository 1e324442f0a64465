import { Fault } from '../../base/errors.js';
import { createReadStream, stat } from '../../base/platform/files.js';
import { readPolicy } from '../../data/terms/read.js';
import type { DataSource } from '../../policy/policy.js';
import type { OpenSettings } from './open-handles.js';
import { type StreamedStep, type StreamOptions, streamWith } from './stream.js';

/** Longest wait for the rest of a line, and the interval between checks, in milliseconds. */
const restOfLine = { most: 5000, every: 100 };
/** Most failed attempts in a row at a file that is being written. */
const mostFailures = 10;

const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Stream that reads again after this many seconds until it is stopped. It waits for the rest of a line being appended; a failure
 * meanwhile that spent nothing is retried a limited number of times.
 */
export async function* followWith(
  file: string,
  { fresh, ...given }: StreamOptions,
  settings: OpenSettings,
  seconds: number,
): AsyncGenerator<StreamedStep, void, undefined> {
  let since = given.since ?? 1;
  let first = fresh === true;
  let failures = 0;
  let rested: Tail | undefined;
  for (;;) {
    const { data } = await readPolicy(file);
    rested = await atRest(data, rested);
    try {
      for await (const step of streamWith(file, { ...given, since, ...(first && { fresh: true }) }, settings)) {
        yield step;
        since = step.step + 1;
      }
      first = false;
      failures = 0;
    } catch (error) {
      const tail = await tailOf(data);
      const written = tail && (tail.half || !isSame(tail, rested));
      if (!written || hasSpent(error) || ++failures > mostFailures) throw error;
    }
    await sleep(1000 * seconds);
  }
}

const hasSpent = (error: unknown): boolean =>
  !(error instanceof Fault) || (error.outcome !== undefined && error.outcome.state !== 'not spent');

/** Size of a text file, and true if its last line has no end. */
interface Tail {
  readonly size: number;
  readonly half: boolean;
}
const isSame = (a: Tail | undefined, b: Tail | undefined): boolean => a?.size === b?.size && a?.half === b?.half;

async function tailOf({ source, encoding }: DataSource): Promise<Tail | undefined> {
  if (!/\.(csv|tsv|txt)$/i.test(source)) return undefined;
  // A later read reports the error.
  const found = await stat(source).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const { size } = found;
  const end = endOfLine(encoding);
  const last = size === 0 ? undefined : await bytesFrom(source, Math.max(0, size - end.length)).catch(() => undefined);
  return { size, half: last !== undefined && !last.subarray(0, end.length).equals(end) };
}

/** Line end of an encoding: two bytes in UTF-16. */
function endOfLine(encoding: string | undefined): Buffer {
  const wide = /^utf-?16-?(be)?/i.exec(encoding?.replaceAll('_', '-').trim() ?? '');
  if (!wide) return Buffer.from([0x0a]);
  return Buffer.from(wide[1] ? [0, 0x0a] : [0x0a, 0]);
}

async function bytesFrom(source: string, start: number): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const bytes of createReadStream(source, { start, end: start + 1 })) read.push(bytes as Buffer);
  return Buffer.concat(read);
}

/** Tail of the file once its last line is complete; as it is if that line has not grown since the last check, or the wait is over. */
async function atRest(data: DataSource, before: Tail | undefined): Promise<Tail | undefined> {
  let tail = await tailOf(data);
  for (let waited = 0; tail?.half && !isSame(tail, before) && waited < restOfLine.most; waited += restOfLine.every) {
    await sleep(restOfLine.every);
    tail = await tailOf(data);
  }
  return tail;
}
