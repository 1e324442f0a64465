import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { type Steps, stepsOf } from '../count/public-steps.js';
import { Fault } from '../errors.js';
import { writeWhole } from '../files/write-file.js';
import { parseJson } from '../input/json.js';
import { readNamedText } from '../input/named-file.js';
import { modeBeside } from '../ledger/ledger-file.js';
import { cryptoBits } from '../noise/bits.js';
import { isDatabase } from '../policy/address.js';
import { canonicalPath } from '../policy/population.js';
import type { Session } from '../release/session.js';

/** Which steps of the data are over, and that those told before are as they were. */
export interface StepsSeen {
  /** All steps up to this one. */
  readonly over: number;
  /** Remembers how many rows the steps up to this one have, before anything is told about it. */
  note(step: number): Promise<void>;
  /** What is seen now: looked at again where the data has changed, so that no step is told of a file that has lost it. */
  now(): Promise<StepsSeen>;
}

export interface StepRules {
  readonly order: string;
  readonly arrived?: string;
  readonly gaps?: 'refuse' | 'empty';
  readonly through?: number;
}

/**
 * Looks at nothing but the public column: how many rows each step has. Rows that came in for steps that were told would be in no answer, so they are
 * refused; the answers themselves are on record and are never made again. What is remembered is a digest of those numbers of rows, salted, beside the ledger.
 */
export async function seeSteps(session: Session, steps: Steps, rules: StepRules): Promise<StepsSeen> {
  const moment = await session.moment();
  await refuseStray(session, steps, rules);
  const rows = await session.rowsOfSteps(steps);
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
  const digest = createHash('sha256').update(`${salt};`);
  let counted = 0;
  const upTo = (step: number): string => {
    while (counted < step) digest.update(`${rows[counted++] ?? 0};`);
    return digest.copy().digest('hex');
  };
  if (before && upTo(before.through) !== before.rows)
    throw new Fault(
      'DATA_MALFORMED',
      'Rows came in for steps that were told already, or are gone from them.',
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

async function refuseStray(session: Session, steps: Steps, { order, arrived }: StepRules): Promise<void> {
  if ((await session.rowsWithoutStep(steps)) > 0)
    throw new Fault(
      'DATA_MALFORMED',
      `Some rows stand at no step: their "${steps.column}" is missing, no whole number, or beyond its bounds.`,
      'Every row of a stream needs one; widen the bounds or mend the rows.',
    );
  if (arrived === undefined) return;
  stepsOf(session.policy, order, steps.width);
  if ((await session.rowsBefore(arrived, order)) > 0)
    throw new Fault(
      'DATA_MALFORMED',
      `Some rows came in before what they are about: their "${arrived}" is smaller than their "${order}".`,
      'Both count in the same units; mend the rows.',
    );
}

const told = z.strictObject({ through: z.number().int().min(0), salt: z.string(), rows: z.string() });
type Told = z.output<typeof told>;

/** What was told: one for each way to cut the data into steps. */
interface Journal {
  readonly place: string;
  readonly read: () => Promise<Told | undefined>;
  readonly write: (now: Told) => Promise<void>;
}

/** Beside a ledger in files; with one on a server in the ledger itself, which other machines read, too. */
function journalOf(session: Session, { column, width, unitsOf }: Steps): Journal {
  const { source, table = null } = session.policy.data;
  const cut = JSON.stringify([canonicalPath(source), table, column, width, unitsOf(1)]);
  const key = createHash('sha256').update(cut).digest('hex');
  const { ledger } = session.policy;
  return isDatabase(ledger)
    ? inLedger(session, createHash('sha256').update(`steps of ${key}`).digest('hex'), column)
    : inFile(join(dirname(ledger), `steps-${key.slice(0, 16)}.json`), ledger);
}

const inFile = (file: string, ledger: string): Journal => ({
  place: file,
  read: async () => {
    if (!existsSync(file)) return undefined;
    const broken = () => unreadable(`Remove ${file}: answers on record stay as they are.`);
    return toldIn(readNamedText(file, 'policyBytes', broken), file, broken);
  },
  write: async (now) =>
    writeWhole(file, `${JSON.stringify(now)}\n`, {
      hint: 'The folder of the ledger must be writable.',
      mode: modeBeside(ledger),
    }),
});

const inLedger = (session: Session, key: string, column: string): Journal => ({
  place: 'the ledger',
  read: async () => {
    const text = await session.noted(key);
    return text === undefined ? undefined : toldIn(text, 'the ledger', () => unreadable('Run "fugu ledger POLICY verify".'));
  },
  write: (now) => session.note(key, `steps of ${column} told: up to ${now.through}`, JSON.stringify(now)),
});

const unreadable = (hint: string): Fault =>
  new Fault('DATA_MALFORMED', 'What was remembered of the steps that were told cannot be read.', hint);

function toldIn(text: string, file: string, broken: () => Fault): Told {
  const found = told.safeParse(parseJson(text, { file }));
  if (!found.success) throw broken();
  return found.data;
}
