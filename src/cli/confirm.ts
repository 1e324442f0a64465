import type { Command } from 'commander';
import type { ConfirmedPolicy, UnconfirmedColumn } from '../ask/confirm.js';
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
      const { confirmPolicy, unconfirmedColumns } = await import('../ask/confirm.js');
      const waiting = await unconfirmedColumns(file);
      const shown = confirmTable(waiting);
      const columns = chosen(words) ?? (words.json || waiting.length === 0 ? [] : await ask(shown));
      const done = await confirmPolicy(file, { columns });
      emit(words.json, done, () => [...(words.all || words.columns ? [shown, ''] : []), verdict(done, file)].join('\n'));
    });
}

function chosen({ all, columns }: ConfirmWords): 'all' | string[] | undefined {
  if (all) return 'all';
  return columns
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** One question for all columns; without a terminal, none. */
async function ask(shown: string): Promise<'all' | string[]> {
  say(`${shown}\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return [];
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = (await reader.question('Accept all (a), some (names separated by commas), or none (Enter)? ')).trim();
    return chosen(/^(a|all|y|yes)$/i.test(answer) ? { all: true } : { columns: answer }) ?? [];
  } finally {
    reader.close();
  }
}

const shorten = (text: string, width = 70) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

const domain = ({ values, bounds }: UnconfirmedColumn): string =>
  values ? `${values.length}: ${shorten(values.join(', '))}` : (bounds ?? []).join(' to ');

export function confirmTable(columns: readonly UnconfirmedColumn[]): string {
  const rows = columns.map((column) => [column.name, column.type, domain(column), shorten(column.missing.join(', '), 24)]);
  return rows.length === 0 ? '' : table(['column', 'type', 'values or bounds', 'missing'], rows);
}

function verdict({ confirmed, unconfirmed: left }: ConfirmedPolicy, file: string): string {
  if (left.length === 0)
    return confirmed.length === 0
      ? 'Everything is confirmed already.'
      : `Confirmed ${confirmed.length}; nothing is left to confirm.`;
  return [
    `Confirmed ${confirmed.length}; ${left.length} to go. Values should be what a column may hold, bounds what is plausible: neither what this data happens to hold.`,
    `Change them in ${file} if they are not, then: fugu confirm ${file} --all`,
  ].join('\n');
}
