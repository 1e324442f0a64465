import { existsSync, statSync } from 'node:fs';
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault } from '../errors.js';
import type { Policy } from './policy.js';

/** How many links in a row are followed to a file that is not there yet; a circle of links ends here. */
const mostLinks = 40;

/** The path with every link resolved, as far as it exists: one file has one name however it was reached. */
export async function canonicalPath(path: string, links = mostLinks): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const here = join(await canonicalPath(parent, links), basename(path));
    // A link to what does not exist yet: it is made where the link points.
    const target = links > 0 ? await readlink(here).catch(() => undefined) : undefined;
    return target === undefined ? here : canonicalPath(resolve(dirname(here), target), links - 1);
  }
}

/**
 * Whose budget a policy spends when it does not say: that of everybody in its data file. It depends on the real file alone, never on the policy's own
 * name, place, secret or unit, so that a copied or edited policy meets the account it started from; nor on the table, because one table has several names
 * and a view shows another table's people (docs/decisions/0002).
 */
export const defaultPopulation = (canonicalSource: string): string => `${ofData}${canonicalSource}`;
const ofData = 'data:';

/** Beside the data for the same reason. */
export const defaultLedger = (canonicalSource: string): string => join(dirname(canonicalSource), '.fugu', 'ledger.db');

/**
 * Before an account is opened for a data file: a ledger that holds the account of a file which is gone most likely holds that of this one, moved or
 * renamed, and then an empty account would be a fresh budget.
 */
export function refuseLostAccount(population: string, others: readonly string[]): void {
  if (!population.startsWith(ofData)) return;
  const lost = others.find((name) => name.startsWith(ofData) && !existsSync(name.slice(ofData.length)));
  if (lost !== undefined)
    throw new Fault(
      'LEDGER_MISMATCH',
      `The ledger holds the budget of ${lost.slice(ofData.length)}, which is not there any more, and none of ${population.slice(ofData.length)}.`,
      `If the data was moved or renamed, write "population: ${JSON.stringify(lost)}" into the policy to go on with its budget; if these are other people, name their population.`,
    );
}

/** How the same people could come by a second budget without anybody noticing; one sentence each, none when all is well. */
export async function accountDoubts({ population, ledger, data }: Policy): Promise<readonly string[]> {
  const source = await canonicalPath(data.source);
  const usual = await canonicalPath(defaultLedger(source));
  const [named, placed] = [population !== defaultPopulation(source), ledger !== usual];
  const names = statSync(source, { throwIfNoEntry: false })?.nlink ?? 1;
  return [
    ...(placed && existsSync(usual)
      ? [`There is another ledger beside the data (${usual}). Each ledger is a budget of its own: keep one for these people.`]
      : []),
    ...(named && !placed
      ? [
          `The ledger lies beside the data because none is named. Data of "${population}" in another folder would have a budget of its own: write "ledger: ${ledger}" into every policy of this population.`,
        ]
      : []),
    ...(names > 1 && !(named && placed)
      ? [
          `The data file has ${names} names on its disk (hard links). Under another name it has a budget of its own: name the population and the ledger.`,
        ]
      : []),
  ];
}
