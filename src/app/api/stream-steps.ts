import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { writeWhole } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { existsSync } from '../../base/platform/files.js';
import { sha256, sha256Stream } from '../../base/platform/hash.js';
import { dirname, join } from '../../base/platform/paths.js';
import { isDatabase } from '../../policy/address.js';
import { dataSource } from '../../policy/data-source.js';
import { fullPaths } from '../../policy/full-path.js';
import type { Policy } from '../../policy/policy.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import { protectedStepsFault, publicSteps, type Steps } from '../../query/count/public-steps.js';
import { siblingFileMode } from '../../release/ledger/ledger-file.js';
import { stepFact } from '../../release/session/public-facts.js';
import type { PrivacySession } from '../../release/session/session.js';

/** Steps of the data that are over, after a check that earlier answered steps are unchanged. */
export interface StepsSeen {
  /** Last step that is over; all before it are, too. */
  readonly over: number;
  /** Remembers the row counts of the steps up to this one, before anything about it is released. */
  note(step: number): Promise<void>;
  /** Current state: checks again if the data has changed, so that no step is answered from a file that has lost it. */
  now(): Promise<StepsSeen>;
}

export interface StepRules {
  readonly order: string;
  readonly arrived?: string;
  readonly gaps?: 'refuse' | 'empty';
  readonly late?: 'refuse' | 'next';
  readonly through?: number;
}

/**
 * Reads row counts per step from the public column, noted in the ledger first, and refuses late rows: no answer would hold them. A
 * salted digest of the counts is stored with the ledger; recorded answers are never recomputed.
 */
export async function seeSteps(session: PrivacySession, steps: Steps, rules: StepRules): Promise<StepsSeen> {
  if (protectedStepsFault(session.policy, steps.column)) return unseenSteps(session.policy, steps, rules);
  if (rules.arrived !== undefined) publicSteps(session.policy, rules.order, steps.width);
  const { moment, rows, without, before: early } = await session.stepRows({ steps, order: rules.order });
  refuseUnexpected(steps, rules, without, early);
  const last = rows.findLastIndex((n) => n > 0) + 1;
  const gap = rows.indexOf(0) + 1;
  if (gap > 0 && gap < last && rules.gaps !== 'empty')
    throw new Fault(
      'DATA_MALFORMED',
      `Step ${gap} (${steps.column} ${steps.unitsOf(gap)[0]}) has no rows, and a later one has.`,
      'Wait for them, or write --gaps empty if a step may have none. Steps are counted from the lower bound of the column.',
    );
  const journal = journalOf(session, steps);
  const before = await journal.read();
  const salt = before?.salt ?? Array.from({ length: 4 }, () => cryptoBits.word().toString(36)).join('-');
  const digest = sha256Stream().update(`${salt};`);
  let counted = 0;
  const upTo = (step: number): string => {
    while (counted < step) digest.update(`${rows[counted++] ?? 0};`);
    return digest.copy().digest('hex');
  };
  if (before && upTo(before.through) !== before.rows)
    throw new Fault(
      'DATA_MALFORMED',
      'Rows were added to steps that were released already, or are gone from them.',
      `No step is counted twice. Take them out, or say when each row came in and count it then: --late next --arrived COLUMN. What is compared stands in ${journal.place}.`,
    );
  const over = rules.through === undefined ? last - 1 : stepsThrough(steps, rules.through);
  const seen: StepsSeen = {
    over: Math.max(0, over),
    now: async () => ((await session.moment()) === moment ? seen : seeSteps(session, steps, rules)),
    note: async (step) => {
      if (step > counted) await journal.write({ through: step, salt, rows: upTo(step) });
    },
  };
  return seen;
}

function stepsThrough(steps: Steps, unit: number): number {
  let [low, high] = [0, steps.count];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (steps.unitsOf(middle)[1] <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function refuseUnexpected({ column }: Steps, { order, arrived }: StepRules, without: number, early: number): void {
  if (without > 0)
    throw new Fault(
      'DATA_MALFORMED',
      `Some rows stand at no step: their "${column}" is missing, no number, or above its upper bound.`,
      `Declare a wider upper bound of "${column}" (answered steps stay on record), or mend the rows.`,
    );
  if (early > 0)
    throw new Fault(
      'DATA_MALFORMED',
      `Some rows came in before what they are about: their "${arrived}" is smaller than their "${order}".`,
      'Both count in the same units; mend the rows.',
    );
}

/**
 * If the steps with rows are protected: all steps up to `through`, whatever the data holds. Reads and stores nothing; gaps and
 * late rows pass, rows without a number count nowhere, rows above the bounds in the last step.
 */
function unseenSteps(policy: Policy, steps: Steps, rules: StepRules): StepsSeen {
  refuseLooking(policy, steps, rules);
  const seen: StepsSeen = {
    over: stepsThrough(steps, rules.through!),
    note: async () => undefined,
    now: async () => seen,
  };
  return seen;
}

/** Refuses, before anything is read, a stream without `through` if it is protected which steps have rows. */
export function refuseLooking(policy: Policy, { column }: Pick<Steps, 'column'>, rules: Omit<StepRules, 'order'>): void {
  const hidden = protectedStepsFault(policy, column);
  if (!hidden) return;
  if (rules.through === undefined) throw hidden;
  if (rules.gaps === 'refuse' || rules.late === 'refuse')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Which steps have rows is protected here, so empty steps and late rows cannot be refused.',
      'Leave --gaps refuse and --late refuse out: steps are answered as they are at the time of the release.',
    );
}

const stepProgressShape = z.strictObject({ through: z.number().int().min(0), salt: z.string(), rows: z.string() });
type StepProgress = z.output<typeof stepProgressShape>;

/** Record of the answered steps: one for each way to cut the data into steps. */
interface StepJournal {
  readonly place: string;
  readonly read: () => Promise<StepProgress | undefined>;
  readonly write: (now: StepProgress) => Promise<void>;
}

/**
 * File next to a file ledger; for a ledger on a server the ledger itself, which other machines read, too. Version 0.2 named it
 * after the data's full path.
 */
function journalOf(session: PrivacySession, { column, width, unitsOf }: Steps): StepJournal {
  const { policy } = session;
  const { data, ledger } = policy;
  const named = (source: readonly unknown[]) => sha256(JSON.stringify([...source, column, width, unitsOf(1)]));
  const before = fullPaths(policy).map((path) => [path(data.source), data.table ?? null]);
  const keys = [[dataSource(policy)], ...before].map(named);
  if (isDatabase(ledger))
    return inLedger(
      session,
      keys.map((key) => sha256(`steps of ${key}`)),
      column,
    );
  const files = keys.map((key) => join(dirname(ledger), `steps-${key.slice(0, 16)}.json`));
  return inFile(files.find((file) => existsSync(file)) ?? files[0]!, ledger);
}

const inFile = (file: string, ledger: string): StepJournal => ({
  place: file,
  read: async () => {
    if (!existsSync(file)) return undefined;
    const broken = () => unreadable(`Remove ${file}: answers on record stay as they are.`);
    return readProgress(readNamedText(file, 'policyBytes', broken), file, broken);
  },
  write: async (now) =>
    writeWhole(file, `${JSON.stringify(now)}\n`, {
      hint: 'The folder of the ledger must be writable.',
      mode: siblingFileMode(ledger),
    }),
});

const inLedger = (session: PrivacySession, keys: readonly string[], column: string): StepJournal => ({
  place: 'the ledger',
  read: async () => {
    for (const key of keys) {
      const text = await session.noted(key);
      if (text !== undefined) return readProgress(text, 'the ledger', () => unreadable('Run "fugu ledger POLICY verify".'));
    }
    return undefined;
  },
  write: (now) =>
    session.note({
      key: keys[0]!,
      label: `steps of ${column} told: up to ${now.through}`,
      text: JSON.stringify(now),
      relied: [stepFact(column)],
    }),
});

const unreadable = (hint: string): Fault =>
  new Fault('DATA_MALFORMED', 'The record of the steps that were released cannot be read.', hint);

function readProgress(text: string, file: string, broken: () => Fault): StepProgress {
  const found = stepProgressShape.safeParse(parseJson(text, { file }));
  if (!found.success) throw broken();
  return found.data;
}
