import { Fault, type Outcome } from '../../../base/errors.js';
import type { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { BrokenChain, beginning, type ChainEnd, endOf, linkHash, type StoredLink } from '../chain/chain.js';
import type { Witness } from '../chain/witness.js';
import { ledgerOn } from '../chained-ledger.js';
import { corrupt } from '../faults.js';
import type { Books } from '../index/accounts.js';
import { decodeText, type IndexRow } from '../index/row.js';
import { indexOf, type LedgerIndex, linkIn } from '../index/tables.js';
import type { Ledger } from '../ledger.js';
import {
  type ChainAppend,
  type ChainState,
  type FreeFailure,
  isFreeFailure,
  type LateFailure,
  type LedgerStorage,
} from '../ledger-storage.js';
import { serverFault } from './fault.js';
import { FetchedRows, firstQuestions, NotFetched } from './rows.js';
import { prepareTables } from './schema.js';
import { isRecovered, memoryOf, type SeenChain, type SeenMemory } from './seen.js';
import { LedgerServer, lock } from './server.js';
import { verifyServer } from './verify.js';

/** A ledger in a PostgreSQL database, for processes on several machines (server-ledger.proof.md). */
export async function openServerLedger(place: string, witness?: Witness): Promise<Ledger> {
  const server = new LedgerServer(place);
  try {
    await server.transaction('SELECT 1', (connection) => prepareTables(connection, place));
    const keeping = keptOn(server, memoryOf(place), witness);
    await keeping.read(() => undefined);
    return ledgerOn(keeping);
  } catch (error) {
    await server.close();
    throw serverFault(error, place);
  }
}

const reading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${firstQuestions}`;
const adding = `BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}; ${firstQuestions}`;

function keptOn(server: LedgerServer, memory: SeenMemory, witness: Witness | undefined): LedgerStorage {
  const { place } = server;
  const fetched = new FetchedRows();
  const index = indexOf(fetched.rows);
  /** The accounts at the last known end of the chain: they follow from the chain alone. */
  let remembered: ChainState | undefined;

  const chainState = (): ChainState => {
    const stored = index.last();
    const { hash } = stored ?? beginning;
    if (remembered?.end.hash === hash) return remembered;
    const link = stored && linkIn(stored);
    if (stored && !fits(stored, fetched.lastBefore())) throw new BrokenChain(`entry ${stored.sequence} does not fit the chain`);
    const found = stored && link ? { end: endOf(stored, link), last: { link, stored } } : { end: beginning, last: undefined };
    remembered = undefined;
    return { ...found, books: index.books(link) };
  };
  const seenNow = ({ sequence, hash }: ChainEnd): SeenChain => ({
    sequence,
    hash,
    recovered: fetched.recovered().map(([recovery]) => decodeText(recovery)),
  });

  /** Synchronous work, run again whenever a query it needs had to be fetched. */
  const work = async <T>(connection: PostgresConnection, run: () => T): Promise<T> => {
    for (;;) {
      fetched.again();
      try {
        return run();
      } catch (error) {
        if (!(error instanceof NotFetched)) throw error;
        await fetched.fetch(connection, error);
      }
    }
  };

  // Remembered states, local or of the witness, are read before the transaction begins: they were committed by then.
  const read = <T>(look: (books: Books, end: ChainEnd) => T): Promise<T> => {
    const seen = memory.seen();
    return server.transaction(reading, async (connection, [, ...answers]) => {
      fetched.begin(answers);
      const result = await work(connection, () => {
        const now = chainState();
        remembered = now;
        refuseOlder(index, now.end, seen, seenNow(now.end), place);
        const value = look(now.books, now.end);
        return { value, seen: seenNow(now.end) };
      });
      await connection.run('COMMIT');
      memory.see(result.seen);
      return result.value;
    });
  };

  const write = <T>(make: (on: ChainAppend) => T, late: (result: T) => LateFailure | FreeFailure): Promise<T> => {
    const seen = memory.seen();
    const witnessed = witness?.head();
    return server.transaction(adding, async (connection, [, , ...answers]) => {
      fetched.begin(answers);
      const { on, result } = await work(connection, () => {
        const now = chainState();
        remembered = now;
        refuseOlder(index, now.end, seen, seenNow(now.end), place);
        if (witnessed) refuseUnwitnessed(index, witnessed, place);
        const on: ChainAppend = { ...now, lines: [] };
        try {
          const result = make(on);
          on.books.flush();
          return { on, result };
        } finally {
          // Changed accounts count only when the change is committed.
          if (on.lines.length > 0) remembered = undefined;
        }
      });
      await fetched.write(connection);
      const ends = on.lines.length > 0 ? late(result) : undefined;
      const { state, error } = await server.commit(connection, on.lines.at(-1));
      if (state === 'undone') throw serverFault(error, place);
      if (state === 'unknown') throw lostCommit(serverFault(error, place), ends);
      remembered = on;
      memory.see(seenNow(on.end));
      if (ends && witness) await notifyWitness(connection, witness, ends);
      return result;
    });
  };

  /** Reports the end as it is under the lock again: no witness receives an earlier link after a later one. */
  const notifyWitness = async (used: PostgresConnection, witness: Witness, ends: LateFailure | FreeFailure): Promise<void> => {
    let connection: PostgresConnection | undefined;
    try {
      connection = used.usable ? used : await server.connect();
      const answers = await connection.begin(adding);
      const [sequence, , hash] = answers[2]!.rows[0]!;
      witness.put(Number(sequence), hash!);
      await connection.run('COMMIT');
    } catch (error) {
      const fault = serverFault(error, place);
      throw withOutcomeText(fault, isFreeFailure(ends) ? ends.unwitnessedText : ends.unwitnessed);
    } finally {
      // A failed witness must not hold the lock.
      if (connection !== used) connection?.destroy();
    }
  };

  return {
    place,
    index,
    // An answer is durable before it is given out: the next reservation may come from another machine.
    boot: undefined,
    witnessed: witness !== undefined,
    holds: (link: StoredLink) => fits(link, link.sequence === 1 ? undefined : fetched.before(link.sequence)),
    read,
    write,
    verify: () => verifyServer(server),
    close: () => server.close(),
  };
}

const fits = ({ sequence, hash, body }: StoredLink, before: IndexRow | undefined): boolean =>
  linkHash(sequence === 1 ? beginning.hash : decodeText(before?.[0]), body) === hash;

/** The state that this machine has seen must still be there, unless a recovery since then explains its loss. */
function refuseOlder(index: LedgerIndex, end: ChainEnd, seen: SeenChain | undefined, now: SeenChain, place: string): void {
  if (!seen || seen.sequence === 0 || seen.hash === end.hash || isRecovered(seen, now)) return;
  if (index.link(seen.sequence)?.hash === seen.hash) return;
  throw corrupt(
    place,
    seen.sequence > end.sequence
      ? `this machine has seen ${seen.sequence} entries of it, more than there are`
      : `this machine has seen another entry ${seen.sequence}`,
  );
}

function refuseUnwitnessed(
  index: LedgerIndex,
  witnessed: { readonly sequence: number; readonly hash: string },
  place: string,
): void {
  const link = index.link(witnessed.sequence);
  if (link?.hash === witnessed.hash) return;
  throw corrupt(
    place,
    link
      ? `the witness knows another entry ${witnessed.sequence}`
      : `the witness knows ${witnessed.sequence} entries of the chain, more than there are`,
  );
}

const withOutcomeText = ({ code, message, hint, place, details }: Fault, end: Outcome | string): Fault =>
  new Fault(code, message, typeof end === 'string' ? `${hint} ${end}` : hint, {
    ...(place && { place }),
    details,
    ...(typeof end === 'object' && { outcome: end }),
  });

/** A commit without a reply: reported as if it was done. */
const lostCommit = (fault: Fault, ends: LateFailure | FreeFailure | undefined): Fault =>
  ends ? withOutcomeText(fault, isFreeFailure(ends) ? ends.doubt : ends.spent) : fault;
