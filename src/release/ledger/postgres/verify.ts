import { Fault } from '../../../base/errors.js';
import type { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { BrokenChain, filedUnder, linkAfter, type StoredLink } from '../chain/chain.js';
import { linkIn } from '../index/row.js';
import { indexOf } from '../index/tables.js';
import type { Verification } from '../ledger.js';
import { ChainWalk } from '../rescue/chain-walk.js';
import { serverFault } from './fault.js';
import { FetchedRows, firstQuestions } from './rows.js';
import type { LedgerServer } from './server.js';

/** Walks the chain in one snapshot and rebuilds every total. A broken chain is a result, not an error; a server that fails is one. */
export async function verifyServer(server: LedgerServer): Promise<Verification> {
  const walk = new ChainWalk();
  const connection = await server.connect();
  try {
    const [, ...answers] = await connection.begin(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${firstQuestions}`);
    await walkLinks(connection, walk);
    const fetched = new FetchedRows();
    fetched.begin(answers);
    await compareAccounts(connection, fetched, walk);
    await walkTexts(connection, walk);
    return { ok: true, entries: walk.entries, head: walk.end.hash };
  } catch (error) {
    const broken = error instanceof BrokenChain ? error : (serverFault(error, server.place) as Fault);
    if (broken instanceof Fault && broken.code !== 'LEDGER_CORRUPT') throw broken;
    const at = broken instanceof BrokenChain && broken.at !== undefined ? { brokenAt: broken.at } : {};
    return { ok: false, entries: walk.entries, reason: broken.message, ...at };
  } finally {
    connection.destroy();
  }
}

const atOnce = () => 1000;

/** Walks from the first link on; throws `BrokenChain` at the first mismatch. */
export async function walkLinks(
  connection: PostgresConnection,
  walk: ChainWalk,
  each?: (stored: StoredLink) => void,
): Promise<void> {
  const sql = 'SELECT sequence, population, key, hash, body FROM fugu_ledger.link ORDER BY sequence';
  for await (const { rows } of connection.blocks({ sql, values: [] }, atOnce))
    for (const [sequence, population, key, hash, body] of rows) {
      const expected = walk.end.sequence + 1;
      if (Number(sequence) !== expected) throw new BrokenChain(`entry ${expected} is missing`, expected);
      const { link, stored } = parsed(() => linkAfter(walk.end, { hash: hash!, body: body! }), expected);
      const filed = filedUnder(link);
      if (filed.population !== population || filed.key !== key)
        throw new BrokenChain(`entry ${expected} is filed under a wrong name`, expected);
      walk.take({ link, stored });
      each?.(stored);
    }
}

/** A body with the right hash was written by us and can be parsed. */
function parsed<T>(work: () => T, sequence: number): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BrokenChain ? error : new BrokenChain(`entry ${sequence} is no link`, sequence);
  }
}

async function compareAccounts(connection: PostgresConnection, fetched: FetchedRows, walk: ChainWalk): Promise<void> {
  const { rows } = await connection.run(
    'SELECT count(*) FROM fugu_ledger.analyst AS a WHERE NOT EXISTS (SELECT 1 FROM fugu_ledger.account AS c WHERE c.population = a.population)',
  );
  const index = indexOf(fetched.rows);
  await fetched.run(connection, () => {
    const last = index.last();
    walk.accounts(index.books(last && linkIn(last)), Number(rows[0]![0]));
  });
}

async function walkTexts(connection: PostgresConnection, walk: ChainWalk): Promise<void> {
  const sql = 'SELECT of, sequence, body FROM fugu_ledger.answer ORDER BY of';
  for await (const { rows } of connection.blocks({ sql, values: [] }, atOnce))
    for (const [of, sequence, body] of rows) walk.text(Number(of), Number(sequence), body!);
  walk.textsEnd();
}
