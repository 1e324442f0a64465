import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Fault } from '../../base/errors.js';
import { readPolicy } from '../../data/terms/read.js';
import type { DataSource } from '../../policy/policy.js';
import type { Opener } from './opened.js';
import { type StreamedStep, type StreamOptions, streamWith } from './stream.js';

/** How long the rest of a line is waited for, and how often it is looked for, in milliseconds. */
const restOfLine = { most: 5000, every: 100 };
/** So many looks in a row may fail at a file that somebody is writing. */
const mostFailures = 10;

const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/**
 * A stream that looks again after so many seconds, until somebody stops it. Whoever appends to the file may be in the middle of a line: its rest is waited for, and what fails meanwhile, with
 * nothing spent, is tried again; not for ever, since a last line may have no end.
 */
export async function* followWith(
  file: string,
  { fresh, ...given }: StreamOptions,
  opener: Opener,
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
      for await (const told of streamWith(file, { ...given, since, ...(first && { fresh: true }) }, opener)) {
        yield told;
        since = told.step + 1;
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

/** How long a text file is, and whether its last line has no end. */
interface Tail {
  readonly size: number;
  readonly half: boolean;
}
const isSame = (a: Tail | undefined, b: Tail | undefined): boolean => a?.size === b?.size && a?.half === b?.half;

async function tailOf({ source, encoding }: DataSource): Promise<Tail | undefined> {
  if (!/\.(csv|tsv|txt)$/i.test(source)) return undefined;
  // Reading it says what is wrong with it.
  const found = await stat(source).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const { size } = found;
  const end = endOfLine(encoding);
  const last = size === 0 ? undefined : await bytesFrom(source, Math.max(0, size - end.length)).catch(() => undefined);
  return { size, half: last !== undefined && !last.subarray(0, end.length).equals(end) };
}

/** What a line ends with: two bytes where every letter has two. */
function endOfLine(encoding: string | undefined): Buffer {
  const wide = /^utf-?16-?(be)?/i.exec(encoding?.replaceAll('_', '-').trim() ?? '');
  return Buffer.from(wide ? (wide[1] ? [0, 0x0a] : [0x0a, 0]) : [0x0a]);
}

async function bytesFrom(source: string, start: number): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const bytes of createReadStream(source, { start, end: start + 1 })) read.push(bytes as Buffer);
  return Buffer.concat(read);
}

/** The file once its last line is whole; as it is where nothing was added to that line since the last look, or nothing comes. */
async function atRest(data: DataSource, before: Tail | undefined): Promise<Tail | undefined> {
  let tail = await tailOf(data);
  for (let waited = 0; tail?.half && !isSame(tail, before) && waited < restOfLine.most; waited += restOfLine.every) {
    await sleep(restOfLine.every);
    tail = await tailOf(data);
  }
  return tail;
}
