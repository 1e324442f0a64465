import { Fault } from '../../../base/errors.js';
import { remove } from '../../../base/files/file-draft.js';
import { syncFolder } from '../../../base/files/folder.js';
import { existsSync, renameSync } from '../../../base/platform/files.js';
import { dirname, resolve } from '../../../base/platform/paths.js';
import { chainPath, readChain } from '../chain/file.js';
import type { Witness } from '../chain/witness.js';
import { corrupt, ledgerFault } from '../faults.js';
import { inTurn, transaction } from '../index/sqlite.js';
import { realPlace } from '../place.js';
import { openStore } from '../store.js';
import { boundAnswers, type Copy, readCopy } from './copy.js';
import { type Recovery, recoverStorage } from './recover.js';
import { salvaged } from './salvaged.js';
import { begins } from './upgrade.js';

export interface Backup {
  readonly file: string;
  readonly links: number;
  readonly answers: number;
  readonly head: string | null;
}

/** One file with the chain and the recorded answers at this moment. */
export async function backupStorage(place: string, named: string, witness?: Witness): Promise<Backup> {
  // Opening finds whatever is wrong with the ledger and brings the index up to the chain file.
  (await openStore(place, witness)).close();
  return writeBackup(named, (temporary) => {
    const { sound, why, unmatchedAnswers, copy } = salvaged(realPlace(place), temporary);
    if (!sound || !copy.whole || unmatchedAnswers > 0) throw corrupt(place, why ?? 'recorded answers were changed');
    return copy;
  });
}

/** Complete before it gets its name, and never replaces another file. */
export function writeBackup(named: string, write: (temporary: string) => Pick<Copy, 'links' | 'answers'>): Backup {
  const file = resolve(named);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const { links, answers } = write(temporary);
    if (existsSync(file)) throw thereAlready(file);
    renameSync(temporary, file);
    syncFolder(dirname(file));
    return { file, links: links.length, answers: answers.size, head: links.at(-1)?.hash ?? null };
  } catch (error) {
    throw ledgerFault(error, file);
  } finally {
    remove(temporary);
  }
}

export type Restored =
  | { readonly kind: 'texts'; readonly texts: number }
  | { readonly kind: 'ledger'; readonly recovery: Recovery };

/**
 * A backup restores what it holds and never takes back a cost. A sound ledger that has at least its links takes only lost answer
 * texts from it; a ledger that is gone, damaged or behind uses it as one more copy to recover from.
 */
export async function restoreStorage(
  named: string,
  file: string,
  reason: string | undefined,
  witness?: Witness,
): Promise<Restored> {
  const backup = readBackup(file);
  const place = realPlace(named);
  const texts = await presentKnowsMore(place, backup, witness);
  if (texts !== undefined) return { kind: 'texts', texts };
  if (!reason) throw noReason();
  return { kind: 'ledger', recovery: recoverStorage(place, reason, witness, backup) };
}

/** Number of texts restored; undefined where the ledger is not sound or has fewer links. */
async function presentKnowsMore(place: string, backup: Copy, witness: Witness | undefined): Promise<number | undefined> {
  if (!existsSync(place) && !existsSync(chainPath(place))) return undefined;
  const store = await openStore(place, witness).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'LEDGER_CORRUPT') return undefined;
    throw error;
  });
  if (!store) return undefined;
  try {
    const { links } = readChain(store.chain.path);
    if (!begins(links, backup.links)) {
      if (begins(backup.links, links)) return undefined;
      throw otherLedger(place);
    }
    const bound = boundAnswers(links, backup.answers);
    const brought = await inTurn(place, () =>
      transaction(store.db, 'IMMEDIATE', () => {
        store.reconciled();
        const keep = store.db.command('UPDATE book.answer SET body = ? WHERE of = ? AND body IS NULL');
        const lost = [...bound].filter(([of]) => store.index.answer(of) === null);
        for (const [of, text] of lost) keep(text, of);
        return lost.length;
      }),
    );
    if (brought === 0 && links.length > backup.links.length) throw knowsMore(place, links.length - backup.links.length);
    return brought;
  } finally {
    store.close();
  }
}

const thereAlready = (file: string): Fault =>
  new Fault('READ_ONLY', `${file} is there already.`, 'Name a new file; a backup never replaces another.', { place: { file } });

export function readBackup(file: string): Copy {
  if (!existsSync(file))
    throw new Fault('DATA_NOT_FOUND', `There is no backup at ${file}.`, 'Name the file that "backup" wrote.');
  const backup = readCopy(file);
  if (backup.whole && backup.links.length > 0) return backup;
  throw new Fault(
    'DATA_MALFORMED',
    `${file} is no whole backup of a ledger.`,
    'Name a file that "fugu ledger POLICY backup FILE" wrote.',
  );
}
export const noReason = (): Fault =>
  new Fault(
    'USAGE',
    'The ledger here is gone, damaged or behind the backup: what was released after the backup may be lost with it.',
    'Add --reason "why". All accounts are then closed until their terms are amended, unless the end of the chain can still be seen.',
  );
export const otherLedger = (place: string): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    'The backup belongs to another ledger, or to another course of this one.',
    'Nothing was changed. Each of the two knows of spending that the other does not.',
    { place: { file: place } },
  );
export const knowsMore = (place: string, links: number): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    `The ledger is sound and knows ${links} links more than the backup.`,
    'Nothing was changed: restoring it would give budget back.',
    { place: { file: place } },
  );
