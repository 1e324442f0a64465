import * as z from 'zod';
import type { FoundKey, LearnedKeys } from '../../analysis/learn/keys/learn-keys.js';
import { Fault } from '../../base/errors.js';
import { refuseUnwritable, writeWhole } from '../../base/files/write-file.js';
import { readFile } from '../../base/platform/files.js';
import { enterEntry } from '../../data/draft/enter-entry.js';
import { parsePolicy, readPolicy } from '../../data/terms/read.js';
import type { Policy } from '../../policy/policy.js';
import type { Receipt, Release } from '../../release/session/receipt.js';
import { boundLadder, decimalsQuery, type LearnedBounds, learnedBounds, tailsQuery } from './bounds-query.js';
import { type Fugu, withFugu } from './fugu.js';
import { amountShape, type FileName, fileNamed, newBudgetShape, parseOptions, withFaults } from './input.js';
import type { Question } from './kinds.js';
import { defineRequest, field } from './request.js';

export const paying = {
  epsilon: field(amountShape.optional(), "Share of the policy's epsilon to use; a tenth when absent.", {
    value: 'part',
    help: "how much of the policy's epsilon to use (a tenth when not said)",
  }),
  fresh: field(z.boolean().optional(), 'Learns from the current data and pays, even if a result is recorded.', {
    help: 'learn from the data as it is now and pay, also when a result is recorded',
  }),
  newBudget: field(newBudgetShape, "Reason for opening a budget for data that has another one; permanent in the ledger's chain."),
};
const place = {
  column: field(z.string().min(1), 'Column that the policy does not declare.', {
    value: 'name',
    help: 'a column that the policy does not declare',
    needed: true,
  }),
  table: field(z.string().min(1).optional(), 'Table of the policy; the data when absent.', {
    value: 'name',
    help: 'of this table of the policy',
  }),
};
export const keysOptions = defineRequest('KeysOptions', {
  ...place,
  most: field(z.int().min(1).max(500).default(50), 'Largest number of values.', {
    value: 'n',
    help: 'so many values at most',
    showsDefault: true,
  }),
  longest: field(
    z.int().min(1).max(64).default(16),
    'Longest value in bytes; longer ones are left out, and a smaller limit means less noise.',
    { value: 'bytes', help: 'values of more bytes are left out; fewer mean less noise', showsDefault: true },
  ),
  ...paying,
});
export const boundsOptions = defineRequest('BoundsOptions', {
  ...place,
  within: field(
    z.number().min(1).max(1e9).default(1e6),
    'Largest distance of a number from 0: a power of ten that is plausible whatever this data holds.',
    { value: 'number', help: 'no number is farther from 0, whatever this data holds', showsDefault: true },
  ),
  tail: field(
    z.number().min(0.001).max(0.1).default(0.005),
    'Share of the rows that may lie below the bounds, and of those above.',
    { value: 'share', help: 'the share of rows that may lie below the bounds, and above them', showsDefault: true },
  ),
  ...paying,
});
export const rowsOptions = defineRequest('RowsOptions', {
  table: field(z.string().min(1), 'Table of the policy.', { value: 'name', help: 'a table of the policy', needed: true }),
  most: field(
    z.int().min(2).max(10_000).default(1_000),
    'Largest number of rows of one person: a number that is plausible whatever this data holds.',
    { value: 'n', help: 'nobody has more, whatever this data holds', showsDefault: true },
  ),
  share: field(
    z.number().min(0.5).max(0.999).default(0.95),
    'Share of the persons in the table all of whose rows are to be used.',
    { value: 'share', help: 'the share of the persons in it of whom every row is to be used', showsDefault: true },
  ),
  ...paying,
});
export type KeysOptions = z.input<typeof keysOptions>;
export type BoundsOptions = z.input<typeof boundsOptions>;
export type RowsOptions = z.input<typeof rowsOptions>;

export interface LearnedRows {
  readonly table: string;
  readonly maxRows: number;
  /** Rank error (95 %) of the share, in persons. */
  readonly rankError: number;
}
export type { FoundKey, LearnedBounds, LearnedKeys };

/** Learned and paid declaration, and the policy's new entry; no entry where nothing was seen above the noise. */
export interface LearnedDomain<R> {
  readonly result: R;
  readonly receipt: Receipt;
  readonly policy: string;
  readonly entered?: string;
}

/** Learning task: released under the policy with the widest declaration, then entered into the policy. */
export interface DomainLearning<R> {
  readonly file: string;
  readonly declared: Policy;
  /** Reason for opening a budget for data that has another one. */
  readonly newBudget?: string;
  release(fugu: Fugu): Promise<{ readonly result: R; readonly receipt: Receipt }>;
  enter(learned: { readonly result: R; readonly receipt: Receipt }): Promise<LearnedDomain<R>>;
}

const columnsOf = (table: string | undefined): readonly string[] =>
  table === undefined ? ['columns'] : ['tables', table, 'columns'];
const learnedFrom = ({ ledger }: Receipt): string => JSON.stringify(`ledger entry ${ledger.entry}`);
const within = (table: string | undefined) => (table === undefined ? {} : { from: table });

/** Policy with one entry added or replaced, parsed before anything is written. */
async function policyWithEntry(file: string, path: readonly string[], key: string, value: string): Promise<[string, Policy]> {
  const text = enterEntry(await readFile(file, 'utf8'), path, key, value);
  return [text, await parsePolicy(text, file)];
}
const write = (file: string, text: string) =>
  writeWhole(file, text, {
    hint: 'It is paid for and recorded: ask again and it is answered from the record, free. Enter it yourself, or free space.',
  });

/** Policy that the result is entered into; refused before payment if its file cannot be written. */
async function writablePolicy(policy: FileName): Promise<Policy> {
  const read = await readPolicy(fileNamed(policy, 'The policy'));
  refuseUnwritable(read.file, { hint: 'What is learned is entered into the policy: make it writable.' });
  return read;
}

export async function keysLearning(policy: FileName, given: KeysOptions): Promise<DomainLearning<LearnedKeys>> {
  const { column, table, most, longest, epsilon, fresh, newBudget: reason } = parseOptions(keysOptions, given);
  const declared = await writablePolicy(policy);
  const { file } = declared;
  const keys = { column, ...(table !== undefined && { table }), most, longest };
  return {
    file,
    declared,
    ...(reason !== undefined && { newBudget: reason }),
    release: (fugu) => fugu.release({ keys }, paid(epsilon, fresh)),
    async enter({ result, receipt }) {
      if (result.keys.length === 0) return { result, receipt, policy: file };
      const values = result.keys.map(({ key }) => JSON.stringify(key)).join(', ');
      const entry = `{ type: category, values: [${values}], learned: ${learnedFrom(receipt)} }`;
      const [text] = await policyWithEntry(file, columnsOf(table), column, entry);
      write(file, text);
      return { result, receipt, policy: file, entered: `${column}: ${entry}` };
    },
  };
}

export async function boundsLearning(policy: FileName, given: BoundsOptions): Promise<DomainLearning<LearnedBounds>> {
  const { column, table, within: far, tail, epsilon, fresh, newBudget: reason } = parseOptions(boundsOptions, given);
  const before = await writablePolicy(policy);
  const { file } = before;
  refuseDeclared(before, column, table);
  const ladder = boundLadder(far);
  const { most, step } = ladder;
  const wide = `{ type: number, bounds: [${-most}, ${most}], step: ${step} }`;
  const [, declared] = await policyWithEntry(file, columnsOf(table), column, wide);
  const queries = [...tailsQuery(column, ladder, tail), decimalsQuery(column, ladder)].map((q) => ({ ...q, ...within(table) }));
  const label = `bounds of ${table === undefined ? '' : `${table}.`}${column}`;
  return {
    file,
    declared,
    ...(reason !== undefined && { newBudget: reason }),
    async release(fugu) {
      const { tables, receipt } = (await fugu.release({ queries } as Question, { ...paid(epsilon, fresh), label })) as Release;
      return { result: learnedBounds(column, ladder, tables), receipt };
    },
    async enter({ result, receipt }) {
      const { bounds, step: own } = result;
      const kind = own === 1 ? 'type: integer' : 'type: number';
      const entry = `{ ${kind}, bounds: [${bounds.join(', ')}]${own === 1 ? '' : `, step: ${own}`}, learned: ${learnedFrom(receipt)} }`;
      const [text] = await policyWithEntry(file, columnsOf(table), column, entry);
      write(file, text);
      return { result, receipt, policy: file, entered: `${column}: ${entry}` };
    },
  };
}

export async function rowsLearning(policy: FileName, given: RowsOptions): Promise<DomainLearning<LearnedRows>> {
  const { table, most, share, epsilon, fresh, newBudget: reason } = parseOptions(rowsOptions, given);
  const before = await writablePolicy(policy);
  const { file } = before;
  const own = before.tables?.get(table);
  if (!own || own.public)
    throw new Fault(
      'QUERY_INVALID',
      own ? `The rows of the public table "${table}" belong to nobody.` : `The policy has no table "${table}".`,
      'Name a table of persons under tables:. How many rows of the data\'s own are used is part of the terms: protect.maxRows, changed by "fugu ledger POLICY amend".',
    );
  const [, declared] = await policyWithEntry(file, ['tables', table], 'maxRows', `${most}`);
  const query = {
    kind: 'quantile',
    column: 'rows',
    at: [Number(share.toFixed(3))],
    from: { perPerson: { from: table, features: { rows: { kind: 'count' } } }, as: 'person' },
  } as const;
  return {
    file,
    declared,
    ...(reason !== undefined && { newBudget: reason }),
    async release(fugu) {
      const { tables, receipt } = await fugu.release(query, { ...paid(epsilon, fresh), label: `rows of one person in ${table}` });
      const { value, rankError = 0 } = tables[0]!.rows[0]!;
      return { result: { table, maxRows: Math.max(1, Math.round(value ?? 1)), rankError }, receipt };
    },
    async enter({ result, receipt }) {
      const first = enterEntry(await readFile(file, 'utf8'), ['tables', table], 'maxRows', `${result.maxRows}`);
      const text = enterEntry(first, ['tables', table], 'learned', learnedFrom(receipt));
      await parsePolicy(text, file);
      write(file, text);
      return {
        result,
        receipt,
        policy: file,
        entered: `${table}: { maxRows: ${result.maxRows}, learned: ${learnedFrom(receipt)} }`,
      };
    },
  };
}

function refuseDeclared({ columns, tables, protect }: Policy, column: string, table: string | undefined): void {
  if (table !== undefined && !tables?.has(table))
    throw new Fault('QUERY_INVALID', `The policy has no table "${table}".`, 'Declare it under tables: first.');
  if ((table === undefined ? columns : tables!.get(table)!.columns).has(column))
    throw new Fault('QUERY_INVALID', `The policy declares "${column}" already.`, 'Take it out of columns to learn its bounds.');
  if (protect.secret === 'answer')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Where answers are the secrets, a column is one from the day it is declared.',
      'Declare its bounds yourself, from what is plausible.',
    );
}

const paid = (epsilon: z.output<typeof amountShape> | undefined, fresh: boolean | undefined) => ({
  ...(epsilon !== undefined && { epsilon }),
  ...(fresh !== undefined && { fresh }),
});

const learned = <R>(made: Promise<DomainLearning<R>>): Promise<LearnedDomain<R>> =>
  withFaults(async () => {
    const { file, declared, newBudget: reason, release, enter } = await made;
    return enter(await withFugu(file, { policy: declared, ...(reason !== undefined && { newBudget: reason }) }, release));
  });

/**
 * Frequent values of an undeclared column: paid for, and entered into the policy.
 *
 * @example
 * const { result, entered } = await learnKeys('town.yaml', { column: 'city', longest: 4, epsilon: 0.2 });
 */
export function learnKeys(policy: FileName, given: KeysOptions): Promise<LearnedDomain<LearnedKeys>> {
  return learned(keysLearning(policy, given));
}

/**
 * Bounds and step of an undeclared number: round numbers that enclose nearly all rows, paid for and entered into the policy.
 *
 * @example
 * const { result } = await learnBounds('town.yaml', { column: 'income', within: 1e6, epsilon: 0.2 });
 */
export function learnBounds(policy: FileName, given: BoundsOptions): Promise<LearnedDomain<LearnedBounds>> {
  return learned(boundsLearning(policy, given));
}

/**
 * Contribution bound of a table (rows per person) that suits nearly everybody: paid for and entered into the policy.
 *
 * @example
 * const { result } = await learnRows('town.yaml', { table: 'stays', share: 0.95, epsilon: 0.1 });
 */
export function learnRows(policy: FileName, given: RowsOptions): Promise<LearnedDomain<LearnedRows>> {
  return learned(rowsLearning(policy, given));
}
