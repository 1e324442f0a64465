import type { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { BrokenChain, beginning, type ChainEnd, linkHash, type StoredLink } from '../chain/chain.js';
import type { Witness } from '../chain/witness.js';
import { ledgerOn } from '../chained-ledger.js';
import { corrupt, withEnding } from '../faults.js';
import type { Books } from '../index/accounts.js';
import { decodeText, type IndexRow } from '../index/row.js';
import { indexOf, type LedgerIndex } from '../index/tables.js';
import type { Ledger, Verification } from '../ledger.js';
import {
  type ChainAppend,
  type ChainState,
  type LateFailure,
  type LedgerStorage,
  refuseUnwitnessed,
  stateAt,
} from '../ledger-storage.js';
import { serverFault } from './fault.js';
import { FetchedRows, firstQuestions } from './rows.js';
import { prepareTables } from './schema.js';
import { isRecovered, memoryOf, type SeenChain, type SeenMemory } from './seen.js';
import { LedgerServer, lock } from './server.js';
import { verifyServer } from './verify.js';

/** A ledger in a PostgreSQL database, for processes on several machines (server-ledger.proof.md). */
export async function openServerLedger(place: string, witness?: Witness): Promise<Ledger> {
  const server = new LedgerServer(place);
  try {
    await server.transaction('SELECT 1', (connection) => prepareTables(connection, place));
    const storage = new ServerStorage(server, witness);
    await storage.read(() => undefined);
    return ledgerOn(storage);
  } catch (error) {
    await server.close();
    throw serverFault(error, place);
  }
}

const reading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${firstQuestions}`;
const adding = `BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}; ${firstQuestions}`;

class ServerStorage implements LedgerStorage {
  readonly place: string;
  readonly index: LedgerIndex;
  /** An answer is durable before it is given out: the next reservation may come from another machine. */
  readonly boot = undefined;
  readonly witnessed: boolean;
  readonly #server: LedgerServer;
  readonly #memory: SeenMemory;
  readonly #witness: Witness | undefined;
  readonly #fetched = new FetchedRows();
  /** The accounts at the last known end of the chain: they follow from the chain alone. */
  #remembered: ChainState | undefined;

  constructor(server: LedgerServer, witness: Witness | undefined) {
    this.place = server.place;
    this.index = indexOf(this.#fetched.rows);
    this.witnessed = witness !== undefined;
    this.#server = server;
    this.#memory = memoryOf(server.place);
    this.#witness = witness;
  }

  holds(link: StoredLink): boolean {
    return fits(link, link.sequence === 1 ? undefined : this.#fetched.before(link.sequence));
  }
  verify(): Promise<Verification> {
    return verifyServer(this.#server);
  }
  close(): Promise<void> {
    return this.#server.close();
  }

  // Remembered states, local or of the witness, are read before the transaction begins: they were committed by then.
  read<T>(look: (books: Books, end: ChainEnd) => T): Promise<T> {
    const seen = this.#memory.seen();
    return this.#server.transaction(reading, async (connection, [, ...answers]) => {
      const fetched = this.#fetched;
      fetched.begin(answers);
      const { value, now } = await fetched.run(connection, () => {
        const { books, end } = this.#stateSince(seen);
        return { value: look(books, end), now: this.#seenAt(end) };
      });
      await connection.run('COMMIT');
      this.#memory.see(now);
      return value;
    });
  }

  write<T>(make: (on: ChainAppend) => T, late: (result: T) => LateFailure): Promise<T> {
    const { place } = this;
    const seen = this.#memory.seen();
    const witnessed = this.#witness?.head();
    return this.#server.transaction(adding, async (connection, [, , ...answers]) => {
      const fetched = this.#fetched;
      fetched.begin(answers);
      const { on, result } = await fetched.run(connection, () => {
        const on: ChainAppend = { ...this.#stateSince(seen), lines: [] };
        refuseUnwitnessed(this, witnessed);
        return { on, result: this.#made(on, make) };
      });
      await fetched.write(connection);
      const ends = on.lines.length > 0 ? late(result) : undefined;
      const { state, error } = await this.#server.commit(connection, on.lines.at(-1));
      if (state === 'undone') throw serverFault(error, place);
      // A commit without a reply is reported as if it was done.
      if (state === 'unknown') throw withEnding(serverFault(error, place), ends?.written);
      this.#remembered = on;
      this.#memory.see(this.#seenAt(on.end));
      if (ends && this.#witness) await this.#notify(this.#witness, connection, ends);
      return result;
    });
  }

  #made<T>(on: ChainAppend, make: (on: ChainAppend) => T): T {
    try {
      const result = make(on);
      on.books.flush();
      return result;
    } finally {
      // Changed accounts count only when the change is committed.
      if (on.lines.length > 0) this.#remembered = undefined;
    }
  }

  /** The present state; refused where it is older than what this machine has seen. */
  #stateSince(seen: SeenChain | undefined): ChainState {
    const state = this.#state();
    this.#remembered = state;
    refuseOlder(this, state.end, seen, this.#seenAt(state.end));
    return state;
  }

  #state(): ChainState {
    const stored = this.index.last();
    if (this.#remembered?.end.hash === (stored ?? beginning).hash) return this.#remembered;
    if (stored && !fits(stored, this.#fetched.lastBefore()))
      throw new BrokenChain(`entry ${stored.sequence} does not fit the chain`);
    this.#remembered = undefined;
    return stateAt(this.index, stored);
  }

  #seenAt({ sequence, hash }: ChainEnd): SeenChain {
    return { sequence, hash, recovered: this.#fetched.recovered().map(([recovery]) => decodeText(recovery)) };
  }

  /** Reports the end as it is under the lock again: no witness receives an earlier link after a later one. */
  async #notify(witness: Witness, used: PostgresConnection, ends: LateFailure): Promise<void> {
    let connection: PostgresConnection | undefined;
    try {
      connection = used.usable ? used : await this.#server.connect();
      const answers = await connection.begin(adding);
      const [sequence, , hash] = answers[2]!.rows[0]!;
      witness.put(Number(sequence), hash!);
      await connection.run('COMMIT');
    } catch (error) {
      throw withEnding(serverFault(error, this.place), ends.unwitnessed);
    } finally {
      // A failed witness must not hold the lock.
      if (connection !== used) connection?.destroy();
    }
  }
}

const fits = ({ sequence, hash, body }: StoredLink, before: IndexRow | undefined): boolean =>
  linkHash(sequence === 1 ? beginning.hash : decodeText(before?.[0]), body) === hash;

/** The state that this machine has seen must still be there, unless a recovery since then explains its loss. */
function refuseOlder({ index, place }: LedgerStorage, end: ChainEnd, seen: SeenChain | undefined, now: SeenChain): void {
  if (!seen || seen.sequence === 0 || seen.hash === end.hash || isRecovered(seen, now)) return;
  if (index.link(seen.sequence)?.hash === seen.hash) return;
  throw corrupt(
    place,
    seen.sequence > end.sequence
      ? `this machine has seen ${seen.sequence} entries of it, more than there are`
      : `this machine has seen another entry ${seen.sequence}`,
  );
}
