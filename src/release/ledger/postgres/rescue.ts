import { Fault } from '../../../base/errors.js';
import type { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { BrokenChain, filedUnder, type Link, type StoredLink } from '../chain/chain.js';
import type { Witness } from '../chain/witness.js';
import { accountRow, linkFrom, shareRow } from '../index/accounts.js';
import { type Backup, knowsMore, noReason, otherLedger, type Restored, readBackup, writeBackup } from '../rescue/backup.js';
import { ChainWalk } from '../rescue/chain-walk.js';
import { boundAnswers, type Copy, writeCopy } from '../rescue/copy.js';
import { noLedger, type Recovery } from '../rescue/recover.js';
import { begins } from '../rescue/upgrade.js';
import { serverFault } from './fault.js';
import { prepareTables } from './schema.js';
import { memoryOf } from './seen.js';
import { LedgerServer, lock } from './server.js';
import { openServerLedger } from './server-ledger.js';
import { walkLinks } from './verify.js';

/** One file with the chain and the recorded answers at this moment: the same as of a ledger in files. */
export async function backupStorage(place: string, named: string, witness?: Witness): Promise<Backup> {
  // Opening finds whatever is wrong with the ledger.
  await (await openServerLedger(place, witness)).close();
  return onServer(place, 'REPEATABLE READ READ ONLY', async (connection) => {
    const { links } = await chainOf(connection);
    const answers = boundAnswers(links, await textsOf(connection));
    return writeBackup(named, (temporary) => {
      writeCopy(temporary, links, answers);
      return { links, answers };
    });
  });
}

/**
 * Computes the rows of accounts and analysts again from the chain, which must be sound; takes over links that only the backup
 * has. Unless a witness confirms the end, entries may be missing: every account is then closed until its terms are amended.
 */
export async function recoverStorage(place: string, reason: string, witness?: Witness, backup?: Copy): Promise<Recovery> {
  const witnessed = witness?.head();
  return onServer(place, `READ COMMITTED; ${lock}`, async (connection, server) => {
    const { walk, links } = await soundChain(connection, place);
    const missing = backup?.links.slice(links.length) ?? [];
    if (links.length + missing.length === 0) throw noLedger(place);
    if (backup && !begins(links, backup.links) && !begins(backup.links, links)) throw otherLedger(place);
    for (const stored of missing) walk.take({ link: JSON.parse(stored.body) as Link, stored });
    const all = [...links, ...missing];
    const complete = witnessed !== undefined && witnessed.sequence === all.length && witnessed.hash === walk.end.hash;
    const populations = [...walk.books.accounts.keys()].sort();
    const closes = complete ? [] : populations.filter((population) => !walk.books.account(population)?.closed);
    const { link, stored: head } = linkFrom(walk.books, walk.end, {
      kind: 'recover',
      at: Date.now(),
      reason,
      incomplete: !complete,
      closes,
    });
    all.push(head);
    const texts = boundAnswers(all, new Map([...(backup?.answers ?? []), ...(await textsOf(connection))]));
    await putLinks(connection, [...missing, head]);
    await putBooks(connection, walk);
    const answers = await putTexts(connection, all, texts);
    const { state, error } = await server.commit(connection, head);
    if (state !== 'committed') throw serverFault(error, place);
    const recovered = all.filter(({ body }) => (JSON.parse(body) as Link).kind === 'recover').map(({ hash }) => hash);
    memoryOf(place).see({ sequence: link.sequence, hash: head.hash, recovered });
    witness?.put(head.sequence, head.hash);
    return {
      links: all.length,
      entries: walk.entries,
      from: missing.length > 0 ? 'backup' : 'database',
      incomplete: !complete,
      closed: populations.filter((population) => walk.books.account(population)?.closed),
      textsLost: answers - texts.size,
      kept: [],
      head: head.hash,
    };
  });
}

/** As for a ledger in files: texts into one with as many links, everything into one that is empty or behind. */
export async function restoreStorage(
  place: string,
  file: string,
  reason: string | undefined,
  witness?: Witness,
): Promise<Restored> {
  const backup = readBackup(file);
  const texts = await onServer(place, `READ COMMITTED; ${lock}`, async (connection, server) => {
    const { links } = await soundChain(connection, place);
    if (!begins(links, backup.links)) {
      if (begins(backup.links, links)) return undefined;
      throw otherLedger(place);
    }
    const bound = [...boundAnswers(links, backup.answers)];
    const { rows } = await connection.query({
      sql: `UPDATE fugu_ledger.answer AS a SET body = given.body FROM ${given(['of', 'bigint'], ['body', 'text'])}
         WHERE a.of = given.of AND a.body IS NULL RETURNING a.of`,
      values: columns(bound, 2),
    });
    if (rows.length === 0 && links.length > backup.links.length) throw knowsMore(place, links.length - backup.links.length);
    const { state, error } = await server.commit(connection, undefined);
    if (state !== 'committed') throw serverFault(error, place);
    return rows.length;
  });
  if (texts !== undefined) return { kind: 'texts', texts };
  if (!reason) throw noReason();
  return { kind: 'ledger', recovery: await recoverStorage(place, reason, witness, backup) };
}

async function onServer<T>(
  place: string,
  begin: string,
  work: (connection: PostgresConnection, server: LedgerServer) => Promise<T>,
): Promise<T> {
  const server = new LedgerServer(place);
  const connection = await server.connect();
  try {
    await prepareTables(connection, place);
    await connection.begin(`BEGIN ISOLATION LEVEL ${begin}`);
    return await work(connection, server);
  } catch (error) {
    throw serverFault(error, place);
  } finally {
    connection.destroy();
  }
}

async function chainOf(
  connection: PostgresConnection,
): Promise<{ readonly walk: ChainWalk; readonly links: readonly StoredLink[] }> {
  const links: StoredLink[] = [];
  const walk = new ChainWalk();
  await walkLinks(connection, walk, (stored) => void links.push(stored));
  return { walk, links };
}

/** Links that do not fit are not cut off here: their costs would be forgotten. */
const soundChain = (connection: PostgresConnection, place: string) =>
  chainOf(connection).catch((error: unknown) => {
    if (!(error instanceof BrokenChain)) throw error;
    throw new Fault(
      'LEDGER_CORRUPT',
      `The ledger is damaged: ${error.message}.`,
      'Bring the database back from a backup of the server, or restore a backup of the ledger into an empty one; then run "fugu ledger POLICY recover --reason TEXT".',
      { place: { file: place } },
    );
  });

async function textsOf(connection: PostgresConnection): Promise<Map<number, string>> {
  const texts = new Map<number, string>();
  const sql = 'SELECT of, body FROM fugu_ledger.answer WHERE body IS NOT NULL';
  for await (const { rows } of connection.blocks({ sql, values: [] }, () => 1000))
    for (const [of, body] of rows) texts.set(Number(of), body!);
  return texts;
}

type Value = string | number | null;
const given = (...names: readonly (readonly [name: string, type: string])[]): string =>
  `unnest(${names.map(([, type], i) => `CAST($${i + 1} AS ${type}[])`).join(', ')}) AS given(${names.map(([name]) => name).join(', ')})`;
const columns = (rows: readonly (readonly Value[])[], width: number): never[] =>
  Array.from({ length: width }, (_, c) => rows.map((row) => row[c]!)) as never[];

async function put(
  connection: PostgresConnection,
  table: string,
  rows: readonly (readonly Value[])[],
  ...names: [string, string][]
): Promise<void> {
  const list = names.map(([name]) => name).join(', ');
  for (let from = 0; from < rows.length; from += 1000)
    await connection.query({
      sql: `INSERT INTO fugu_ledger.${table} (${list}) SELECT ${list} FROM ${given(...names)}`,
      values: columns(rows.slice(from, from + 1000), names.length),
    });
}

const putLinks = (connection: PostgresConnection, links: readonly StoredLink[]): Promise<void> =>
  put(
    connection,
    'link',
    links.map(({ sequence, hash, body }) => {
      const { population, key } = filedUnder(JSON.parse(body) as Link);
      return [sequence, population, key, hash, body];
    }),
    ['sequence', 'bigint'],
    ['population', 'text'],
    ['key', 'text'],
    ['hash', 'text'],
    ['body', 'text'],
  );

async function putBooks(connection: PostgresConnection, { books }: ChainWalk): Promise<void> {
  await connection.run('DELETE FROM fugu_ledger.account; DELETE FROM fugu_ledger.analyst');
  await put(
    connection,
    'account',
    [...books.accounts].map(([population, state]) => accountRow(population, state)),
    ['population', 'text'],
    ['state', 'text'],
    ['digest', 'text'],
    ['summary', 'text'],
    ['totals', 'text'],
    ['entries', 'bigint'],
    ['closed', 'integer'],
    ['pending', 'text'],
  );
  await put(
    connection,
    'analyst',
    books.shares().map(shareRow),
    ['population', 'text'],
    ['analyst', 'text'],
    ['pin', 'text'],
    ['totals', 'text'],
  );
  await connection.run(`UPDATE fugu_ledger.mark SET incomplete = ${books.incomplete() ? 1 : 0}`);
}

/** Returns the number of entries that were answered. */
async function putTexts(
  connection: PostgresConnection,
  links: readonly StoredLink[],
  texts: ReadonlyMap<number, string>,
): Promise<number> {
  const rows = links.flatMap(({ sequence, body }) => {
    const link = JSON.parse(body) as Link;
    return link.kind === 'answer' ? [[link.of, sequence, texts.get(link.of) ?? null] as const] : [];
  });
  await connection.run('DELETE FROM fugu_ledger.answer');
  await put(connection, 'answer', rows, ['of', 'bigint'], ['sequence', 'bigint'], ['body', 'text']);
  return rows.length;
}
