import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from '../../../base/platform/files.js';
import { answerHash, beginning, endOf, type Link, linkAfter, type StoredLink } from '../chain/chain.js';

/**
 * A ledger as one text file: every link as in the chain file, then the recorded answers, then an end mark.
 * Used for backups and for the content of a damaged index, so that only text has to be trusted.
 */
export interface Copy {
  readonly links: readonly StoredLink[];
  /** Recorded text by entry. */
  readonly answers: ReadonlyMap<number, string>;
  /** True if the end was reached: nothing is missing from the file. */
  readonly whole: boolean;
}

const title = 'fugu-ledger-copy 1';

export function writeCopy(path: string, links: Iterable<StoredLink>, answers: Iterable<readonly [number, string]>): void {
  const fd = openSync(path, 'wx', 0o600);
  let held = `${title}\n`;
  const put = (line: string, least = 1 << 16) => {
    held += line;
    if (held.length < least) return;
    const bytes = Buffer.from(held, 'utf8');
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    held = '';
  };
  try {
    let count = 0;
    for (const { hash, body } of links) {
      put(`${hash} ${body}\n`);
      count++;
    }
    for (const [of, text] of answers) put(`answer ${of} ${JSON.stringify(text)}\n`);
    put(`end ${count}\n`, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The links, as far as they are sound. */
export function readCopy(path: string): Copy {
  // Devices and pipes have no end, and files under /proc no size.
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) return { links: [], answers: new Map(), whole: false };
  const [first, ...lines] = readFileSync(path, 'utf8').split('\n');
  const links: StoredLink[] = [];
  const answers = new Map<number, string>();
  let end = beginning;
  if (first !== title) return { links, answers, whole: false };
  for (const line of lines) {
    const ending = /^end (\d+)$/.exec(line);
    if (ending) return { links, answers, whole: Number(ending[1]) === links.length };
    const answer = /^answer (\d+) (".*")$/.exec(line);
    try {
      if (answer) answers.set(Number(answer[1]), JSON.parse(answer[2]!) as string);
      else {
        const { link, stored } = linkAfter(end, { hash: line.slice(0, 64), body: line.slice(65) });
        links.push(stored);
        end = endOf(stored, link);
      }
    } catch {
      break;
    }
  }
  return { links, answers, whole: false };
}

/** Texts that answer links pin: all others are dropped. */
export function boundAnswers(links: readonly StoredLink[], answers: ReadonlyMap<number, string>): Map<number, string> {
  const bound = new Map<number, string>();
  for (const { body } of links) {
    const link = JSON.parse(body) as Link;
    const text = link.kind === 'answer' ? answers.get(link.of) : undefined;
    if (link.kind === 'answer' && text !== undefined && answerHash(links[link.of - 1]!.hash, text) === link.answer)
      bound.set(link.of, text);
  }
  return bound;
}
