import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { ConfirmedPolicy, ConfirmOptions, UnconfirmedColumn } from '../api/confirm.js';
import { table, warn } from '../report/terminal-text.js';
import { emit, printOut } from './output.js';
import { inShell, typed } from './typed.js';

interface ConfirmWords {
  readonly all?: boolean;
  readonly columns?: string;
  readonly dependence?: string;
  readonly groups?: string;
  readonly oddsRatio?: string;
  readonly json?: boolean;
}

export function registerConfirmCommand(program: Command): void {
  program
    .command('confirm')
    .description('look at the domains that were read from the data, and accept them')
    .argument('<policy>', 'the policy file')
    .option('--all', 'accept all of them')
    .option('--columns <names>', 'accept these, separated by commas')
    .option('--dependence <none>', 'in the place of "undecided": no row says anything about another')
    .option('--groups <column>', 'in the place of "undecided": rows with one value of this column know each other')
    .option(
      '--odds-ratio <ratio>',
      'with --groups, how alike they are: 1 strangers, 81 agree nine times in ten, inf copies (when not said)',
    )
    .option('--json', 'print one JSON document')
    .action(async (file: string, words: ConfirmWords) => {
      const { confirmPolicy, unconfirmedColumns } = await import('../api/confirm.js');
      const waiting = await unconfirmedColumns(file);
      const shown = confirmTable(waiting);
      const columns = chosen(words) ?? (words.json || waiting.length === 0 ? [] : await ask(shown));
      const done = await confirmPolicy(file, { columns, ...dependenceIn(words) });
      emit(words.json, done, () => [...(words.all || words.columns ? [shown, ''] : []), ...verdict(done, file)].join('\n'));
    });
}

function dependenceIn({ dependence, groups, oddsRatio }: ConfirmWords): Pick<ConfirmOptions, 'dependence'> {
  if (dependence !== undefined && (dependence !== 'none' || groups !== undefined))
    throw new Fault('USAGE', '--dependence none says that no row knows another.', 'For households write --groups COLUMN.');
  if (groups !== undefined) return { dependence: { by: groups, ...(oddsRatio !== undefined && { oddsRatio }) } };
  return dependence === 'none' ? { dependence } : {};
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
  printOut(`${shown}\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return [];
  const { createInterface } = await import('../../base/platform/terminal.js');
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = (await reader.question('Accept all (a), some (names separated by commas), or none (Enter)? ')).trim();
    return chosen(/^(a|all|y|yes)$/i.test(answer) ? { all: true } : { columns: answer }) ?? [];
  } finally {
    reader.close();
  }
}

const shorten = (text: string, width = 70) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

const domain = ({ type, values, bounds = ['', ''] }: UnconfirmedColumn): string =>
  values ? `${values.length}: ${shorten(values.join(', '))}` : (type === 'date' ? bounds : bounds.map(decimal)).join(' to ');

/** Bounds are exact fractions (241/5); the decimal of the policy (48.2) is shown. */
function decimal(exact: string): string {
  const [over, under = '1'] = exact.split('/');
  return String(Number(over) / Number(under));
}

export function confirmTable(columns: readonly UnconfirmedColumn[]): string {
  const rows = columns.map((column) => [column.name, column.type, domain(column), shorten(column.missing.join(', '), 24)]);
  return rows.length === 0 ? '' : table(['column', 'type', 'values or bounds', 'missing'], rows);
}

function verdict(done: ConfirmedPolicy, file: string): string[] {
  const { freeText, undecided } = done;
  return [
    ...(done.dependence === undefined ? [] : [`Written into ${file}: dependence: ${done.dependence}`]),
    ...(done.dependence !== undefined && done.confirmed.length === 0 && done.unconfirmed.length === 0
      ? []
      : [confirmedWords(done, file)]),
    ...(freeText.length > 0
      ? [
          warn(`Not accepted with --all, because the values read like what people wrote: ${freeText.join(', ')}.`),
          'Take them out of the policy. If they are answers to choose from, not words of respondents, name them with --columns.',
        ]
      : []),
    ...(undecided
      ? [
          warn('Whether records know each other is still undecided: nothing is planned or released before it is said.'),
          `Write dependence: into ${file}, or: ${typed()} confirm ${inShell(file)} --groups COLUMN (or --dependence none); --odds-ratio says how alike they are, copies otherwise.`,
        ]
      : []),
  ];
}

function confirmedWords({ confirmed, unconfirmed: left, freeText }: ConfirmedPolicy, file: string): string {
  if (left.length === 0)
    return confirmed.length === 0
      ? 'Everything is confirmed already.'
      : `Confirmed ${confirmed.length}; nothing is left to confirm.`;
  return [
    `Confirmed ${confirmed.length}; ${left.length} to go. Values should be what a column may hold, bounds what is plausible: neither what this data happens to hold.`,
    ...(left.every((name) => freeText.includes(name))
      ? []
      : [`Change them in ${file} if they are not, then: ${typed()} confirm ${inShell(file)} --all`]),
  ].join('\n');
}
