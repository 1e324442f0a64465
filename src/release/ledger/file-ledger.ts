import type { ChainEnd, StoredLink } from './chain/chain.js';
import type { Witness } from './chain/witness.js';
import { ledgerOn } from './chained-ledger.js';
import { ledgerFault } from './faults.js';
import type { Books } from './index/accounts.js';
import { inTurn, transaction } from './index/sqlite.js';
import type { Ledger } from './ledger.js';
import type { LedgerStorage } from './ledger-storage.js';
import { verifyInChild } from './rescue/verify.js';
import { openStore, type Store } from './store.js';
import { writeLinks } from './write-links.js';

/** A ledger in two files: the chain, and SQLite as its index and lock. */
export const openFileLedger = async (place: string, witness?: Witness): Promise<Ledger> =>
  ledgerOn(keptIn(await openStore(place, witness)));

function keptIn(store: Store): LedgerStorage {
  const { place, db, index, boot } = store;
  let gone = false;

  const read = <T>(work: (books: Books, end: ChainEnd) => T): Promise<T> =>
    inTurn(place, () => {
      store.checkFiles();
      const seen = transaction(db, 'DEFERRED', () => {
        const chainState = store.agreed();
        return chainState && { value: work(chainState.books, chainState.end) };
      });
      if (seen) return seen.value;
      return caughtUp(() => {
        const { books, end } = store.reconciled();
        return work(books, end);
      });
    });
  /** Links that were read count even if the index cannot be written: the chain file has them. */
  const caughtUp = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE');
    try {
      return work();
    } finally {
      try {
        db.exec('COMMIT');
      } catch {}
      store.remember(undefined);
      if (db.inTransaction()) db.exec('ROLLBACK');
    }
  };

  return {
    place,
    index,
    boot,
    witnessed: store.witness !== undefined,
    holds: (link: StoredLink) => store.chain.holds(link) !== false,
    read,
    write: (work, late) => writeLinks(store, work, late),
    verify: () => verifyInChild(place),
    close: async () => {
      if (gone) return;
      gone = true;
      try {
        // Moves everything into the main file; harmless when another process is still writing.
        // Costs are durable whether or not it works.
        store.checkFiles();
        store.chain.flush();
        store.flushRows();
        db.query('PRAGMA book.wal_checkpoint(TRUNCATE)').get();
      } catch {}
      try {
        store.close();
      } catch (error) {
        throw ledgerFault(error, place);
      }
    },
  };
}
