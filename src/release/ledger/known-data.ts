import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { makeFolder } from '../../base/files/folder.js';
import { errnoOf, writeFault } from '../../base/files/write-fault.js';
import { writeNew, writeWhole } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { openNamed, unreadableText } from '../../base/input/named-file.js';
import { chmodSync, closeSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from '../../base/platform/files.js';
import { hmacSha256 } from '../../base/platform/hash.js';
import { homedir } from '../../base/platform/host.js';
import { dirname, isAbsolute, join, relative, resolve } from '../../base/platform/paths.js';
import { isDatabase } from '../../policy/address.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import { siblingFileMode } from './ledger-file.js';

/** An account that was opened for some data. */
export interface DataAccount {
  readonly population: string;
  readonly ledger: string;
}
export interface Claim extends DataAccount {
  /** Reason why it may have a budget although the data has another one. */
  readonly reason?: string;
}

/** Folder that records which data has an account. */
export interface Registry {
  readonly folder: string;
  /** File mode in it: next to a shared ledger, files belong to the ledger's group. */
  readonly mode: number;
  /** The default folder, which holds nothing else: if it cannot be written, data is merely not recognised by it. */
  readonly isOptional?: true;
  /** Lies in the folder of a ledger, which creates that folder itself. */
  readonly isInLedgerFolder?: true;
}

export const isSameAccount = (a: DataAccount, b: DataAccount): boolean => a.population === b.population && a.ledger === b.ledger;

const folderName = 'known-data';
/** Value that turns recognition off. */
const off = 'off';

/** Registries that recognise the data of an account: the user's, the service's, and the one in the ledger's folder. */
export function registriesOf(ledger: string, ofService?: string): readonly Registry[] {
  if (process.env.FUGU_REGISTRY === off) return [];
  const configured = process.env.FUGU_REGISTRY?.trim();
  const own = configured ? named(configured) : defaultFolder();
  return [
    ...(own === undefined ? [] : [{ folder: own, mode: 0o600, ...(!configured && { isOptional: true as const }) }]),
    ...(ofService === undefined ? [] : [{ folder: ofService, mode: 0o600 }]),
    ...(isDatabase(ledger)
      ? []
      : [{ folder: join(dirname(ledger), folderName), mode: siblingFileMode(ledger), isInLedgerFolder: true as const }]),
  ];
}

/** A relative path would name another registry in every working directory. */
function named(folder: string): string {
  if (isAbsolute(folder)) return resolve(folder);
  throw new Fault(
    'USAGE',
    'FUGU_REGISTRY is not a full path.',
    'Give the full path of a folder, or "off" to do without the registry of known data.',
  );
}

/** A user without a home has no registry of their own. */
function defaultFolder(): string | undefined {
  const { XDG_STATE_HOME: state } = process.env;
  if (state && isAbsolute(state)) return join(state, 'fugu', folderName);
  try {
    const home = homedir();
    return isAbsolute(home) ? join(home, '.local', 'state', 'fugu', folderName) : undefined;
  } catch {
    return undefined;
  }
}

const stored = z.strictObject({ population: z.string(), ledger: z.string(), at: z.string(), reason: z.string().optional() });
const keyForm = /^[0-9a-f]{64}\n$/;

/** Claims on data with this digest. A registry that does not exist has none; one that cannot be read is a fault. */
export function claimsIn(registry: Registry, digest: string): readonly Claim[] {
  const key = keyIn(registry);
  return key === undefined ? [] : claimsUnder(registry, nameOf(key, digest)).map(({ claim }) => claim);
}

/**
 * Adds the claim that `decide` makes from the existing ones, unless it throws; the second of two concurrent claims sees
 * the first. Returns a function that withdraws it, or this account's existing claim.
 */
export function addClaim(
  registry: Registry,
  digest: string,
  account: DataAccount,
  decide: (others: readonly Claim[]) => Pick<Claim, 'reason'>,
): { readonly known: Claim } | { readonly takeBack: () => void } {
  const name = nameOf(keyForWriting(registry), digest);
  for (let left = mostRivals; left > 0; left--) {
    const there = claimsUnder(registry, name);
    const known = there.find((other) => isSameAccount(other.claim, account));
    if (known) return { known: known.claim };
    const { reason } = decide(there.map((other) => other.claim));
    const file = join(registry.folder, `${name}-${Math.max(0, ...there.map(({ number }) => number)) + 1}.json`);
    const { population, ledger } = account;
    const text = JSON.stringify({ population, ledger: seenFrom(registry, ledger), at: new Date().toISOString(), reason });
    if (!writeNew(file, `${text}\n`, writing(registry))) continue;
    shared(registry, file);
    return { takeBack: () => rmSync(file, { force: true }) };
  }
  throw registryFault(registry, 'takes no further claim');
}
/** Among concurrent claims, each is overtaken at most once by each other. */
const mostRivals = 100;

/** State of the files that an account was last remembered with, so that they are read again only when changed. */
export function isRemembered(registry: Registry, account: DataAccount, state: string): boolean {
  const key = keyIn(registry);
  return key !== undefined && textIn(registry, markOf(key, account)) === `${nameOf(key, state)}\n`;
}
/** True if this account was open once: the ledger had it, whatever it holds now. */
export function wasOpened(registry: Registry, account: DataAccount): boolean {
  const key = keyIn(registry);
  return key !== undefined && textIn(registry, markOf(key, account)) !== undefined;
}
export function rememberState(registry: Registry, account: DataAccount, state: string): void {
  const key = keyForWriting(registry);
  const file = join(registry.folder, markOf(key, account));
  writeWhole(file, `${nameOf(key, state)}\n`, writing(registry));
  shared(registry, file);
}
const markOf = (key: string, { population, ledger }: DataAccount): string =>
  `${nameOf(key, JSON.stringify([population, ledger]))}.state`;

/** Keyed hash: the file names alone do not let anyone test guesses of the data. */
const nameOf = (key: string, digest: string): string => hmacSha256(Buffer.from(key, 'hex'), digest);

const writing = ({ mode }: Registry) => ({ hint: 'The registry of known data must be writable; FUGU_REGISTRY names it.', mode });

const [keyFile, checkFile] = ['key', 'key-check'];
/** Checks that the key is the one the claims were made with; another key would find none of them. */
const checkOf = (key: string): string => `${nameOf(key, 'key of the registry of known data')}\n`;

const keyIn = (registry: Registry): string | undefined => checkedKey(registry)?.key;

/** Read in the reverse order of writing (key, check, claims): a registry being created never looks damaged. */
function checkedKey(registry: Registry): { readonly key: string; readonly isChecked: boolean } | undefined {
  const isUsed = namesIn(registry).some((name) => /\.(json|state)$/.test(name));
  const check = textIn(registry, checkFile);
  const text = textIn(registry, keyFile);
  if (text === undefined) {
    if (isUsed || check !== undefined) throw registryFault(registry, 'has lost its key');
    return undefined;
  }
  if (!keyForm.test(text)) throw registryFault(registry, 'has a damaged key');
  const key = text.trim();
  if (check === undefined ? isUsed : check !== checkOf(key))
    throw registryFault(registry, 'has another key than its claims were made with');
  return { key, isChecked: check !== undefined };
}

function keyForWriting(registry: Registry): string {
  const found = checkedKey(registry);
  return found?.isChecked ? found.key : makeKey(registry);
}

function makeKey(registry: Registry): string {
  const { folder } = registry;
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    throw writeFault(error, { file: folder, moved: false }, writing(registry).hint);
  }
  if (registry.mode !== 0o600) chmodSync(folder, 0o2770);
  writeOnce(registry, keyFile, `${secretBytes(32).toString('hex')}\n`);
  const key = keyIn(registry);
  if (key === undefined) throw registryFault(registry, 'has lost its key');
  writeOnce(registry, checkFile, checkOf(key));
  return key;
}

function writeOnce(registry: Registry, name: string, text: string): void {
  const file = join(registry.folder, name);
  if (writeNew(file, text, writing(registry))) shared(registry, file);
}

/** Opens a file to the group of a shared ledger, whatever the umask. */
function shared({ mode }: Registry, file: string): void {
  if (mode !== 0o600) chmodSync(file, mode);
}

function claimsUnder(registry: Registry, name: string): readonly { readonly number: number; readonly claim: Claim }[] {
  const form = new RegExp(`^${name}-(\\d{1,9})\\.json$`);
  return namesIn(registry)
    .flatMap((file) => {
      const number = form.exec(file)?.[1];
      const claim = number === undefined ? undefined : claimOf(registry, file);
      return claim === undefined ? [] : [{ number: Number(number), claim }];
    })
    .sort((a, b) => a.number - b.number);
}

/** Undefined if the claim was withdrawn since the folder was read. */
function claimOf(registry: Registry, file: string): Claim | undefined {
  const text = textIn(registry, file);
  if (text === undefined) return undefined;
  const { population, ledger, reason } = storedIn(registry, text);
  return { population, ledger: placeIn(registry, ledger), ...(reason !== undefined && { reason }) };
}

function storedIn(registry: Registry, text: string): z.output<typeof stored> {
  try {
    return stored.parse(parseJson(text));
  } catch {
    throw registryFault(registry, 'holds something that is not a claim');
  }
}

/** Path of a ledger as stored: relative in or below the registry's parent folder, so that both may move together. */
function seenFrom({ folder }: Registry, ledger: string): string {
  if (isDatabase(ledger)) return ledger;
  const inside = relative(dirname(folder), ledger);
  return inside.startsWith('..') || isAbsolute(inside) ? ledger : inside;
}
const placeIn = ({ folder }: Registry, ledger: string): string =>
  isDatabase(ledger) || isAbsolute(ledger) ? ledger : join(dirname(folder), ledger);

const namesIn = (registry: Registry): readonly string[] =>
  readIn(registry, registry.folder, (folder) => readdirSync(folder)) ?? [];
const textIn = (registry: Registry, name: string): string | undefined =>
  readIn(registry, join(registry.folder, name), (file) => {
    const { handle, size } = openNamed(file, (why) => registryFault(registry, `holds a file that ${unreadableText[why]}`));
    try {
      if (size > mostBytes) throw registryFault(registry, 'holds a file that is too large');
      return readFileSync(handle, 'utf8');
    } finally {
      closeSync(handle);
    }
  });
const mostBytes = 1 << 20;

/** The only way to read the folder and its files: undefined if the entry itself does not exist, a fault if it cannot be read. */
function readIn<T>(registry: Registry, path: string, read: (path: string) => T): T | undefined {
  try {
    return isAbsent(registry, path) ? undefined : read(path);
  } catch (error) {
    // A claim may be withdrawn between listing and reading.
    if (isAbsent(registry, path)) return undefined;
    throw error instanceof Fault ? error : registryFault(registry, 'cannot be read');
  }
}

/** Proves absence, in folders that can be read: below a dangling link or a file, an entry may be missing that existed. */
function isAbsent(registry: Registry, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const found = entryAt(registry, at);
    if (!found && at === dirname(at)) return true;
    if (!found) continue;
    if (at === path) return false;
    const behind = found.isSymbolicLink() ? statSync(at, { throwIfNoEntry: false }) : found;
    // A device as home folder (/dev/null) stands for no home.
    if (behind?.isDirectory() || behind?.isCharacterDevice()) return true;
    throw registryFault(registry, 'cannot be reached');
  }
}
function entryAt(registry: Registry, path: string) {
  try {
    return lstatSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) return undefined;
    throw registryFault(registry, 'cannot be read');
  }
}

const registryFault = ({ folder }: Registry, how: string): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `The registry of known data in ${folder} ${how}, so it is not known whether this data has a budget already.`,
    'Restore it, make it readable, or move the folder away (no budget is lost with it). FUGU_REGISTRY names another folder.',
    { place: { file: folder } },
  );
