import { Fault, type Outcome } from '../../../base/errors.js';
import type { Connection } from '../../../data/engine/postgres/connection.js';
import { Broken, beginning, type End, endOf, linkHash, type Stored } from '../chain/chain.js';
import type { Witness } from '../chain/witness.js';
import { ledgerOn } from '../chained-ledger.js';
import { corrupt } from '../faults.js';
import type { Books } from '../index/accounts.js';
import { type Row, text } from '../index/row.js';
import { type Index, indexOf, linkIn } from '../index/tables.js';
import { type Adding, isUnpaid, type Keeping, type Late, type Standing, type Unpaid } from '../keeping.js';
import type { Ledger } from '../ledger.js';
import { serverFault } from './fault.js';
import { FetchedRows, firstQuestions, Wanted } from './rows.js';
import { prepareTables } from './schema.js';
import { isRecovered, type Memory, memoryOf, type Seen } from './seen.js';
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

function keptOn(server: LedgerServer, memory: Memory, witness: Witness | undefined): Keeping {
  const { place } = server;
  const fetched = new FetchedRows();
  const index = indexOf(fetched.rows);
  /** The accounts at the last known end of the chain: they follow from the chain alone. */
  let remembered: Standing | undefined;

  const standing = (): Standing => {
    const stored = index.last();
    const { hash } = stored ?? beginning;
    if (remembered?.end.hash === hash) return remembered;
    const link = stored && linkIn(stored);
    if (stored && !fits(stored, fetched.lastBefore())) throw new Broken(`entry ${stored.sequence} does not fit the chain`);
    const found = stored && link ? { end: endOf(stored, link), last: { link, stored } } : { end: beginning, last: undefined };
    remembered = undefined;
    return { ...found, books: index.books(link) };
  };
  const seenNow = ({ sequence, hash }: End): Seen => ({
    sequence,
    hash,
    recovered: fetched.recovered().map(([recovery]) => text(recovery)),
  });

  /** Synchronous work, run again whenever a query it needs had to be fetched. */
  const work = async <T>(connection: Connection, run: () => T): Promise<T> => {
    for (;;) {
      fetched.again();
      try {
        return run();
      } catch (error) {
        if (!(error instanceof Wanted)) throw error;
        await fetched.fetch(connection, error);
      }
    }
  };

  // Remembered states, local or of the witness, are read before the transaction begins: they were committed by then.
  const read = <T>(look: (books: Books, end: End) => T): Promise<T> => {
    const seen = memory.seen();
    return server.transaction(reading, async (connection, [, ...answers]) => {
      fetched.begin(answers);
      const result = await work(connection, () => {
        const now = standing();
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

  const write = <T>(make: (on: Adding) => T, late: (result: T) => Late | Unpaid): Promise<T> => {
    const seen = memory.seen();
    const told = witness?.head();
    return server.transaction(adding, async (connection, [, , ...answers]) => {
      fetched.begin(answers);
      const { on, result } = await work(connection, () => {
        const now = standing();
        remembered = now;
        refuseOlder(index, now.end, seen, seenNow(now.end), place);
        if (told) refuseUnwitnessed(index, told, place);
        const on: Adding = { ...now, lines: [] };
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
      if (state === 'unknown') throw unheard(serverFault(error, place), ends);
      remembered = on;
      memory.see(seenNow(on.end));
      if (ends && witness) await tellWitness(connection, witness, ends);
      return result;
    });
  };

  /** Reports the end as it is under the lock again: no witness receives an earlier link after a later one. */
  const tellWitness = async (used: Connection, witness: Witness, ends: Late | Unpaid): Promise<void> => {
    let connection: Connection | undefined;
    try {
      connection = used.usable ? used : await server.connect();
      const answers = await connection.begin(adding);
      const [sequence, , hash] = answers[2]!.rows[0]!;
      witness.tell(Number(sequence), hash!);
      await connection.run('COMMIT');
    } catch (error) {
      const fault = serverFault(error, place);
      throw saying(fault, isUnpaid(ends) ? ends.unheard : ends.unwitnessed);
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
    holds: (link: Stored) => fits(link, link.sequence === 1 ? undefined : fetched.before(link.sequence)),
    read,
    write,
    verify: () => verifyServer(server),
    close: () => server.close(),
  };
}

const fits = ({ sequence, hash, body }: Stored, before: Row | undefined): boolean =>
  linkHash(sequence === 1 ? beginning.hash : text(before?.[0]), body) === hash;

/** The state that this machine has seen must still be there, unless a recovery since then explains its loss. */
function refuseOlder(index: Index, end: End, seen: Seen | undefined, now: Seen, place: string): void {
  if (!seen || seen.sequence === 0 || seen.hash === end.hash || isRecovered(seen, now)) return;
  if (index.link(seen.sequence)?.hash === seen.hash) return;
  throw corrupt(
    place,
    seen.sequence > end.sequence
      ? `this machine has seen ${seen.sequence} entries of it, more than there are`
      : `this machine has seen another entry ${seen.sequence}`,
  );
}

function refuseUnwitnessed(index: Index, told: { readonly sequence: number; readonly hash: string }, place: string): void {
  const link = index.link(told.sequence);
  if (link?.hash === told.hash) return;
  throw corrupt(
    place,
    link
      ? `the witness knows another entry ${told.sequence}`
      : `the witness knows ${told.sequence} entries of the chain, more than there are`,
  );
}

const saying = ({ code, message, hint, place, details }: Fault, end: Outcome | string): Fault =>
  new Fault(code, message, typeof end === 'string' ? `${hint} ${end}` : hint, {
    ...(place && { place }),
    details,
    ...(typeof end === 'object' && { outcome: end }),
  });

/** A commit without a reply: reported as if it was done. */
const unheard = (fault: Fault, ends: Late | Unpaid | undefined): Fault =>
  ends ? saying(fault, isUnpaid(ends) ? ends.doubt : ends.spent) : fault;
