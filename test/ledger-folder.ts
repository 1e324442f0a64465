import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../src/base/errors.js';
import { rational, toText } from '../src/base/exact/rational.js';
import { pureCost } from '../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import type { Ledger, Reservation } from '../src/release/ledger/ledger.js';
import { openLedger } from '../src/release/ledger/open.js';

/** Folder of one ledger and its files; ledgers opened through it are closed with it. */
export interface LedgerFolder {
  readonly folder: string;
  readonly place: string;
  ledgerAt(path?: string, witness?: string): Promise<Ledger>;
  /** To be closed with the folder. */
  keep(ledger: Ledger): Ledger;
  /** Files of the ledger by what follows its name. */
  without(...ends: string[]): void;
  /** `mayFail`: what was done to the ledgers may keep them from being closed. */
  closeLedgers(mayFail?: boolean): Promise<void>;
  close(mayFail?: boolean): Promise<void>;
}

export function ledgerFolder(...inside: string[]): LedgerFolder {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-ledger-'));
  const place = join(folder, ...inside, 'ledger.db');
  const open: Ledger[] = [];
  const keep = (ledger: Ledger): Ledger => {
    open.push(ledger);
    return ledger;
  };
  const closeLedgers = async (mayFail = false): Promise<void> => {
    for (const ledger of open.splice(0))
      await ledger.close().catch((error: unknown) => {
        if (!mayFail) throw error;
      });
  };
  return {
    folder,
    place,
    keep,
    ledgerAt: async (path = place, witness) => keep(await openLedger(path, witness === undefined ? {} : { witness })),
    without: (...ends) => {
      for (const end of ends) rmSync(`${place}${end}`, { force: true });
    },
    closeLedgers,
    close: async (mayFail) => {
      await closeLedgers(mayFail);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const folderTerms = { digest: 'd1', summary: 'epsilon 1' };
/** A request by ann for an epsilon of 0.1. */
export const askingOfAnn = (over: Partial<Reservation> = {}): Reservation => ({
  population: 'town',
  terms: folderTerms,
  analyst: 'ann',
  key: 'k1',
  label: 'count',
  profile: pureCost([[everyRecord, rational(1, 10)]]),
  admit: () => undefined,
  ...over,
});
export const spentByAnalyst = async (ledger: Ledger): Promise<string> =>
  toText((await ledger.spent('town')).pure.perRecord.get(everyRecord) ?? rational(0));

export const failureOf = (work: Promise<unknown>): Promise<Fault> =>
  work.then(
    () => {
      throw new Error('no fault');
    },
    (error: Fault) => error,
  );
