import {
  answerHash,
  beginning,
  type ChainEnd,
  endOf,
  type Link,
  lineOf,
  type SpendLink,
  type StoredLink,
} from '../chain/chain.js';
import { chainPath, hasChainFile, makeChainFile, readChain } from '../chain/file.js';
import { corrupt } from '../faults.js';
import { follow, type LinkDraft, linkFrom, MemoryBooks } from '../index/accounts.js';
import { createSchema } from '../index/schema.js';
import type { SqliteConnection } from '../index/sqlite.js';
import { indexOn } from '../index/sqlite-rows.js';
import { boundAnswers, type Copy } from './copy.js';
import { salvaged } from './salvaged.js';

/** The accounts after these links, and a way to add more. */
export function continueChain(links: readonly StoredLink[]): {
  readonly links: StoredLink[];
  readonly add: (draft: LinkDraft) => StoredLink;
  readonly populations: () => readonly string[];
  readonly closed: (population: string) => boolean;
} {
  const books = new MemoryBooks();
  const all = [...links];
  for (const { body } of links) follow(books, JSON.parse(body) as Link);
  const last = all.at(-1);
  let end: ChainEnd = last ? endOf(last, JSON.parse(last.body) as Link) : beginning;
  const add = (draft: LinkDraft): StoredLink => {
    const { link, stored } = linkFrom(books, end, draft);
    all.push(stored);
    end = endOf(stored, link);
    return stored;
  };
  return {
    links: all,
    add,
    populations: () => [...books.accounts.keys()].sort(),
    closed: (population) => books.account(population)?.closed === true,
  };
}

export const begins = (whole: readonly StoredLink[], part: readonly StoredLink[]): boolean =>
  part.length === 0 || whole[part.length - 1]?.hash === part.at(-1)!.hash;

/** Writes links and answers into an empty index. */
export function fillIndex(db: SqliteConnection, links: readonly StoredLink[], answers: ReadonlyMap<number, string>): void {
  const index = indexOn(db);
  const books = index.books(undefined);
  for (const stored of links) {
    const link = JSON.parse(stored.body) as Link;
    follow(books, link);
    index.keepLink(link, stored, link.kind === 'answer' ? answers.get(link.of) : undefined);
  }
  books.flush();
}

/** Upgrades a ledger from before the chain file: reads it in full once, then creates the file. Inside the write lock. */
export function upgrade(db: SqliteConnection, place: string): void {
  const { sound, why, copy } = salvaged(place);
  if (!sound || !copy.whole) throw corrupt(place, why ?? 'it cannot be read to its end');
  const path = chainPath(place);
  const links = hasChainFile(path) ? alreadyContinued(path, copy.links, place) : upgraded(copy);
  if (!hasChainFile(path)) makeChainFile(path, links.map(lineOf));
  db.exec('DROP TABLE book.answer; DROP TABLE book.entry; DROP TABLE book.account; DROP TABLE book.analyst');
  createSchema(db);
  fillIndex(db, links, boundAnswers(links, copy.answers));
}

/** The same chain with the link that pins all accounts, and the answers. */
export function upgraded({ links, answers }: Pick<Copy, 'links' | 'answers'>): readonly StoredLink[] {
  const chain = continueChain(links);
  const at = Date.now();
  chain.add({ kind: 'upgrade', at });
  for (const [of, text] of answers) {
    const { hash, body } = links[of - 1]!;
    const { population } = JSON.parse(body) as SpendLink;
    chain.add({ kind: 'answer', population, at, of, answer: answerHash(hash, text) });
  }
  return chain.links;
}

/** An older copy of the index next to a chain file that continued after the copy was made. */
function alreadyContinued(path: string, former: readonly StoredLink[], place: string): readonly StoredLink[] {
  const { links, ending } = readChain(path);
  if (!begins(links, former) || links.length <= former.length || ending.kind === 'damaged' || ending.kind === 'cut')
    throw corrupt(place, 'it does not agree with the chain file beside it');
  return links;
}
