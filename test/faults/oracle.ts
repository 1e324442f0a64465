import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toNumber } from '../../src/base/exact/rational.js';
import { isOfRecords } from '../../src/privacy/mechanism/record-class.js';
import { verifyPlace } from '../../src/release/ledger/rescue/verify.js';
import type { CommandResult } from '../fugu.js';
import { Fault, openLedger } from '../inside.js';
import type { Call, DiskFault } from './disk.js';

/** Broken promise of the ledger or of a file. */
export interface Broken {
  /**
   * overspent: more admitted than the budget. lost: a recorded or delivered answer is missing. silent: a false report.
   * twice: the same request was charged again. torn: a partial file or folder.
   */
  readonly promise: 'overspent' | 'lost' | 'silent' | 'twice' | 'torn';
  readonly what: string;
}
/** Fault planted in one call of a command that would otherwise have led to `sound`. */
export interface PlantedFault extends DiskFault {
  readonly call: Call;
  readonly sound: State;
}
export type Judge = (before: State, result: CommandResult, after: State, planted: PlantedFault) => Broken[];

export interface LedgerSpend {
  readonly sequence: number;
  readonly settled: boolean;
  /** Answered, and the answer cannot be returned again. */
  readonly textLost?: boolean;
  readonly key: string;
  readonly epsilon: number;
}
/** Contents of the disk, read once it works again. */
export interface State {
  readonly files: ReadonlyMap<string, string>;
  readonly ledger?: {
    readonly entries: readonly LedgerSpend[];
    readonly terms: string | undefined;
    /** Entries whose answer can be returned again. */
    readonly told: readonly number[];
    readonly wrong?: string;
  };
}

export const ledgerBudget = 3;
export const ledgerPopulation = 'town';

const ledgerFile = /^ledger\.db(-wal|-shm|-journal|\.chain)?$/;

export async function diskState(folder: string): Promise<State> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => statSync(join(folder, f)).isFile());
  const files = new Map(names.filter((f) => !ledgerFile.test(f)).map((f) => [f, readFileSync(join(folder, f), 'utf8')]));
  if (!names.some((f) => ledgerFile.test(f))) return { files };
  const nothing = { entries: [], terms: undefined, told: [] };
  try {
    const ledger = await openLedger(join(folder, 'ledger.db'));
    try {
      // Here and not in a child, as `ledger.verify` would: no file is damaged so that it ends a process.
      const chain = await verifyPlace(join(folder, 'ledger.db'));
      const entries = (await ledger.entries(ledgerPopulation)).map((e) => ({
        sequence: e.sequence,
        settled: e.settled,
        ...(e.textLost && { textLost: true }),
        key: e.key,
        epsilon: Math.max(0, ...[...e.profile.perRecord].filter(([name]) => isOfRecords(name)).map(([, cost]) => toNumber(cost))),
      }));
      const recorded: number[] = [];
      for (const e of entries) if (e.settled && (await ledger.replay(ledgerPopulation, e.key))) recorded.push(e.sequence);
      const terms = (await ledger.account(ledgerPopulation))?.terms.digest;
      return { files, ledger: { entries, terms, told: recorded, ...(!chain.ok && { wrong: `${chain.reason}` }) } };
    } finally {
      await ledger.close();
    }
  } catch (error) {
    return { files, ledger: { ...nothing, wrong: error instanceof Fault ? `${error.code}: ${error.message}` : String(error) } };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a command printed
type Document = any;
const documentOf = (result: CommandResult): Document => {
  try {
    return JSON.parse(result.out);
  } catch {
    return undefined;
  }
};
export const killed = (result: CommandResult): boolean => result.signal === 'SIGKILL';

/** Valid fault codes of a disk error. A driver that reports only "input or output failed" cannot know that the disk was full. */
const names = { EIO: ['DISK_FAILED'], ENOSPC: ['DISK_FULL', 'DISK_FAILED'], EROFS: ['READ_ONLY', 'DISK_FAILED'] };

/** A command that was not killed has reported its outcome: one document, and a fault with the right code. */
function judgeOutput(result: CommandResult, { mode, errno = 'EIO' }: PlantedFault): Broken[] {
  const silent = (what: string): Broken[] => [{ promise: 'silent', what }];
  if (killed(result)) return [];
  if (result.signal !== null || result.code === null || result.code > 7)
    return silent(`ended by ${result.signal ?? `exit ${result.code}`}`);
  const document = documentOf(result);
  if (document === undefined) return silent('printed no document');
  if ((result.code === 0) !== (document.error === undefined))
    return silent(`exit ${result.code} does not go with what it printed`);
  const code = document.error?.code;
  if (code === 'INTERNAL') return silent('a fault without a name (INTERNAL)');
  // Once the budget is reserved, the reason for a missing answer is not disclosed; a spoiled file is no disk fault.
  if (code === undefined || mode === 'spoil' || document.error.outcome?.state === 'spent') return [];
  const death = mode === 'kill' || mode === 'tear' || mode === 'after';
  // It lives on where a process died that it had started.
  const right = death ? ['LEDGER_BUSY'] : mode === 'short' ? [...names.EIO, ...names.ENOSPC] : names[errno];
  return right.includes(code)
    ? []
    : silent(`${death ? 'a killed child' : mode === 'short' ? 'a short write' : errno} told as ${code}`);
}

/** The ledger afterwards: sound, with everything that was in it, and no more in it than the budget. */
function judgeLedger(before: State, after: State): Broken[] {
  const broken: Broken[] = [];
  if (after.ledger?.wrong !== undefined) return [{ promise: 'lost', what: `the ledger does not stand: ${after.ledger.wrong}` }];
  const entries = after.ledger?.entries ?? [];
  for (const old of before.ledger?.entries ?? []) {
    const now = entries.find((e) => e.sequence === old.sequence);
    if (!now) broken.push({ promise: 'lost', what: `entry ${old.sequence} is gone` });
    else if (old.settled && !now.settled) broken.push({ promise: 'lost', what: `the answer of entry ${old.sequence} is gone` });
  }
  for (const e of entries)
    if (e.settled && !after.ledger!.told.includes(e.sequence) && !entries.some((o) => o.key === e.key && o.sequence > e.sequence))
      broken.push({ promise: 'lost', what: `entry ${e.sequence} is answered and cannot be told` });
  const spent = entries.reduce((sum, e) => sum + e.epsilon, 0);
  if (spent > ledgerBudget * (1 + 1e-12)) broken.push({ promise: 'overspent', what: `${spent} of ${ledgerBudget}` });
  return broken;
}

/** A release reports exactly what became of its budget: not spent, spent without an answer, or recorded (docs/reference/outcomes.md). */
export const judgeRelease: Judge = (before, result, after, planted) => {
  const broken = [...judgeLedger(before, after), ...judgeOutput(result, planted)];
  const document = documentOf(result);
  const silent = (what: string) => broken.push({ promise: 'silent', what });
  const entries = after.ledger?.entries ?? [];
  const known = new Set((before.ledger?.entries ?? []).map((e) => e.sequence));
  const booked = entries.filter((e) => !known.has(e.sequence));
  if (booked.length > 1) broken.push({ promise: 'lost', what: `one request was booked ${booked.length} times` });
  if (document === undefined || broken.some((b) => b.promise === 'lost')) return broken;

  if (document.error === undefined) {
    const { entry, recorded, replayed } = (document.receipt ?? document).ledger;
    const found = entries.find((e) => e.sequence === entry);
    if (!found) broken.push({ promise: 'lost', what: `an answer was told and its entry ${entry} is not in the ledger` });
    else if (recorded !== false && !found.settled) broken.push({ promise: 'lost', what: 'told as recorded, and is not' });
    if (replayed && booked.length > 0) silent('told as replayed, and something was booked');
    return broken;
  }
  const { outcome, code } = document.error;
  const exit = outcome?.state === 'spent' ? 6 : outcome?.state === 'recorded' ? 7 : undefined;
  if (exit !== undefined && result.code !== exit) silent(`outcome "${outcome.state}" with exit ${result.code}`);
  if (exit === undefined && (result.code === 6 || result.code === 7)) silent(`exit ${result.code} without its outcome`);
  if (exit === undefined) {
    for (const e of booked)
      silent(`says nothing was spent; the ledger has a new entry ${e.settled ? 'with' : 'without'} an answer [${code}]`);
    return broken;
  }
  const found = entries.find((e) => e.sequence === outcome.entry);
  if (!found) silent(`says entry ${outcome.entry} was booked; the ledger does not have it [${code}]`);
  else if (found.settled !== (outcome.state === 'recorded'))
    silent(`says "${outcome.state}"; its entry is ${found.settled ? '' : 'not '}answered [${code}]`);
  for (const e of booked) if (e.sequence !== outcome.entry) silent(`entry ${e.sequence} was booked and not said [${code}]`);
  return broken;
};

/** Outcome of a command on a failing disk. */
export interface First {
  readonly before: State;
  readonly result: CommandResult;
  readonly after: State;
  readonly planted: PlantedFault;
}
/** Conditions that hold when the same command runs again on a sound disk. */
export type JudgeAgain = (first: First, result: CommandResult, after: State) => Broken[];

/** A request is charged once, however often it is repeated, unless it was reported as not spent. */
export const judgeAgain: JudgeAgain = (first, result, after) => {
  const { before } = first;
  const broken = judgeLedger(before, after);
  const known = new Set((before.ledger?.entries ?? []).map((e) => e.sequence));
  const paid = (after.ledger?.entries ?? []).filter((e) => !known.has(e.sequence));
  const warned = paysAgain(first);
  // No other request could pay, so the missing part of the budget was charged for no answer.
  if (result.code === 3) return warned ? broken : [...broken, { promise: 'twice', what: 'there is no budget left to ask again' }];
  if (result.code !== 0)
    broken.push({
      promise: 'lost',
      what: `asked again on a sound disk: exit ${result.code} ${documentOf(result)?.error?.code ?? result.err}`,
    });
  else if (paid.length > (warned ? 2 : 1)) broken.push({ promise: 'twice', what: `paid ${paid.length} times` });
  return broken;
};

/**
 * Reported as unspent; or killed between the two copies of its answer, so that the chain has it answered and the text is lost
 * (docs/reference/outcomes.md).
 */
function paysAgain({ before, result, after, planted: { call, mode } }: First): boolean {
  if (!killed(result)) return documentOf(result)?.error?.outcome?.resumable === false;
  const between =
    call.what === 'write' && (call.where === 'ledger.db-wal' || (call.where === 'ledger.db.chain' && mode === 'after'));
  const old = new Set((before.ledger?.entries ?? []).map((e) => e.sequence));
  return between && (after.ledger?.entries ?? []).some((e) => e.textLost && !old.has(e.sequence));
}

/** The terms change exactly when the command reports it. */
export const judgeAmend: Judge = (before, result, after, planted) => {
  const broken = [...judgeLedger(before, after), ...judgeOutput(result, planted)];
  const changed = after.ledger?.terms !== before.ledger?.terms;
  if (killed(result) || broken.some((b) => b.promise === 'lost')) return broken;
  const doubted = /may have been changed/.test(documentOf(result)?.error?.hint ?? '');
  if (changed !== (result.code === 0) && !(doubted && mayDoubt(planted)))
    broken.push({
      promise: 'silent',
      what: changed ? 'changed the terms and says it failed' : 'says it changed the terms and did not',
    });
  return broken;
};

/** The outcome may be unknown only while a disk that refuses to sync goes on failing. */
const mayDoubt = ({ mode, call }: PlantedFault): boolean => mode === 'lasting' && call.where === 'ledger.db.chain';

/** Looking changes nothing. */
export const judgeLooking: Judge = (before, result, after, planted) => {
  const broken = [...judgeLedger(before, after), ...judgeOutput(result, planted)];
  if (after.ledger?.entries.length !== before.ledger?.entries.length)
    broken.push({ promise: 'silent', what: 'looking booked something' });
  return broken;
};

/** Drafts stay behind only where the process was killed or nothing can be removed. */
export const judgeLeft: Judge = (before, result, after, { mode, call }) => {
  if (killed(result) || mode === 'lasting' || call.what === 'unlink') return [];
  const draft = /\.fugu-|\.tmp$|\.old$|\.new(-wal|-shm|-journal|\.chain)?$/;
  const left = [...after.files.keys()].filter((f) => draft.test(f) && !before.files.has(f));
  return left.length > 0 ? [{ promise: 'torn', what: `${left.length} drafts left behind` }] : [];
};

/** Files are as they were or as they should be (noisy ones: complete), all of them. */
export const judgeFiles =
  (names: readonly string[], complete?: (name: string) => RegExp): Judge =>
  (before, result, after, planted) => {
    const { mode, sound } = planted;
    const broken: Broken[] = [];
    const old = (name: string) => after.files.get(name) === before.files.get(name);
    const fresh = (name: string) => {
      const now = after.files.get(name);
      return now !== undefined && (complete ? complete(name).test(now) : now === sound.files.get(name));
    };
    for (const name of names)
      if (!old(name) && !fresh(name)) broken.push({ promise: 'torn', what: `${name} is neither old nor new` });
    if (killed(result)) return broken;
    broken.push(...judgeLeft(before, result, after, planted));
    const error = documentOf(result)?.error;
    const moved = names.filter((name) => !old(name));
    if (error === undefined) {
      for (const name of names) if (!fresh(name)) broken.push({ promise: 'silent', what: `says it wrote ${name} and did not` });
    } else if (moved.length > 0) {
      if (/is unchanged/.test(error.hint)) broken.push({ promise: 'silent', what: `says ${moved[0]} is unchanged; it is not` });
      if (moved.length < names.length && mode !== 'lasting')
        broken.push({ promise: 'torn', what: `${moved.length} of ${names.length} files are new` });
    }
    return broken;
  };

/** A rebuilt ledger has every entry it should have, and on success every answer; otherwise it is unchanged and refuses reservations. */
export const judgeRebuilt: Judge = (before, result, after, planted) => {
  const broken = [...judgeLeft(before, result, after, planted), ...judgeOutput(result, planted)];
  const untouched = after.ledger === undefined || after.ledger.wrong !== undefined;
  if (untouched && result.code === 0)
    broken.push({ promise: 'silent', what: `says it rebuilt the ledger: ${after.ledger?.wrong}` });
  if (untouched && before.ledger !== undefined && after.ledger === undefined)
    broken.push({ promise: 'lost', what: 'what was left of the ledger is gone' });
  return untouched ? broken : [...broken, ...missingFrom(after, planted.sound, result.code === 0)];
};

function missingFrom(after: State, sound: State, texts: boolean): Broken[] {
  const { entries, terms, told: recorded } = after.ledger!;
  const broken: Broken[] = [];
  for (const { sequence } of sound.ledger!.entries)
    if (!entries.some((e) => e.sequence === sequence))
      broken.push({ promise: 'lost', what: `entry ${sequence} is not in what was rebuilt` });
  if (terms !== sound.ledger!.terms) broken.push({ promise: 'lost', what: 'the terms are not in what was rebuilt' });
  if (texts && recorded.length < sound.ledger!.told.length)
    broken.push({
      promise: 'lost',
      what: `${sound.ledger!.told.length - recorded.length} recorded answers are not in what was rebuilt`,
    });
  return broken;
}

/** On a sound disk a retry rebuilds it, or is refused because it is sound; only a killed process may lose answers. */
export const judgeRebuiltAgain: JudgeAgain = (first, result, after) => {
  const code = documentOf(result)?.error?.code;
  const stands = after.ledger !== undefined && after.ledger.wrong === undefined;
  return stands && (result.code === 0 || code === 'LEDGER_MISMATCH')
    ? missingFrom(after, first.planted.sound, !killed(first.result))
    : [{ promise: 'lost', what: `cannot be rebuilt any more: exit ${result.code} ${code ?? ''} ${after.ledger?.wrong ?? ''}` }];
};

export const both =
  (...judges: readonly Judge[]): Judge =>
  (before, result, after, planted) =>
    judges.flatMap((judge) => judge(before, result, after, planted));

/** A command that only writes files has nothing else to say. */
export const judgeOutputOnly: Judge = (_before, result, _after, planted) => judgeOutput(result, planted);
