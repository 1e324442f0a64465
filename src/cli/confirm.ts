import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { Fault } from '../errors.js';
import { toText } from '../exact/rational.js';
import { writeWhole } from '../files/write-file.js';
import { confirmColumns } from '../policy/draft/confirm.js';
import type { Column, Policy } from '../policy/policy.js';
import { didYouMean } from '../policy/suggest.js';
import { parsePolicy, readPolicy } from '../terms/read.js';
import { emit, say, table } from './output.js';

interface ConfirmWords {
  readonly all?: boolean;
  readonly columns?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('confirm')
    .description('look at the domains that were read from the data, and accept them')
    .argument('<policy>', 'the policy file')
    .option('--all', 'accept all of them')
    .option('--columns <names>', 'accept these, separated by commas')
    .option('--json', 'print one JSON document')
    .action(async (file: string, words: ConfirmWords) => {
      const policy = await readPolicy(file);
      const shown = confirmTable(policy);
      const wanted = chosen(policy, words) ?? (words.json ? [] : await ask(policy, shown));
      const left = await confirmPolicy(policy, wanted);
      emit(words.json, { policy: policy.file, confirmed: wanted, unconfirmed: left }, () =>
        [...(words.all || words.columns ? [shown, ''] : []), verdict(wanted, left, file)].join('\n'),
      );
    });
}

/** Takes the columns off the list in the file; everything else in it stays as it is. */
export async function confirmPolicy(policy: Policy, columns: readonly string[]): Promise<readonly string[]> {
  if (columns.length === 0) return policy.unconfirmed;
  const text = confirmColumns(await readFile(policy.file, 'utf8'), new Set(columns));
  const { unconfirmed } = await parsePolicy(text, policy.file);
  writeWhole(policy.file, text, {
    hint: 'Free space, check permissions, or take the columns off its unconfirmed: list yourself.',
  });
  return unconfirmed;
}

function chosen(policy: Policy, words: ConfirmWords): readonly string[] | undefined {
  if (words.all) return policy.unconfirmed;
  if (words.columns === undefined) return policy.unconfirmed.length === 0 ? [] : undefined;
  const names = words.columns
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !policy.columns.has(name));
  if (unknown !== undefined)
    throw new Fault(
      'COLUMN_UNKNOWN',
      `The policy has no column "${unknown}".`,
      didYouMean(unknown, policy.unconfirmed, 'Unconfirmed columns'),
    );
  return names.filter((name) => policy.unconfirmed.includes(name));
}

/** One question for all columns; without a terminal, none. */
async function ask(policy: Policy, shown: string): Promise<readonly string[]> {
  say(`${shown}\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return [];
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = (await reader.question('Accept all (a), some (names separated by commas), or none (Enter)? ')).trim();
    if (answer === '') return [];
    return chosen(policy, /^(a|all|y|yes)$/i.test(answer) ? { all: true } : { columns: answer }) ?? [];
  } finally {
    reader.close();
  }
}

const shorten = (text: string, width = 70) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

function domain(column: Column): string {
  if ('values' in column) return `${column.values.length}: ${shorten(column.values.join(', '))}`;
  return `${toText(column.bounds[0])} to ${toText(column.bounds[1])}`;
}

export function confirmTable(policy: Policy): string {
  const rows = policy.unconfirmed.map((name) => {
    const column = policy.columns.get(name)!;
    return [name, column.type, domain(column), shorten(column.missing.join(', '), 24)];
  });
  return rows.length === 0 ? '' : table(['column', 'type', 'values or bounds', 'missing'], rows);
}

function verdict(confirmed: readonly string[], left: readonly string[], file: string): string {
  if (left.length === 0)
    return confirmed.length === 0
      ? 'Everything is confirmed already.'
      : `Confirmed ${confirmed.length}; nothing is left to confirm.`;
  return [
    `Confirmed ${confirmed.length}; ${left.length} to go. Values should be what a column may hold, bounds what is plausible: neither what this data happens to hold.`,
    `Change them in ${file} if they are not, then: fugu confirm ${file} --all`,
  ].join('\n');
}
