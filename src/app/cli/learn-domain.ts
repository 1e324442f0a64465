import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { DomainLearning, LearnedBounds, LearnedDomain, LearnedKeys, LearnedRows } from '../api/learn-domain.js';
import { numberText, table } from '../report/terminal-text.js';
import { acceptOption, newBudgetOption, type PaymentOptions, spendingDecision, yesOption } from './confirm-spending.js';
import { emit, paidText, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { withSession } from './session.js';

interface Words extends PaymentOptions {
  readonly column: string;
  readonly table?: string;
  readonly most?: string;
  readonly longest?: string;
  readonly within?: string;
  readonly tail?: string;
  readonly share?: string;
  readonly epsilon?: string;
  readonly fresh?: boolean;
}

/** Commands that learn required declarations nobody knows: paid for, and entered into the policy. */
export function registerDomainCommands(learn: Command): void {
  const command = (name: string, what: string) =>
    learn.command(name).description(what).argument('<policy>', 'policy file; what is learned is entered into it');
  const paying = (made: Command) =>
    made
      .option('--epsilon <part>', "how much of the policy's epsilon to use (a tenth when not said)")
      .option('--fresh', 'learn from the data as it is now and pay, also when a result is recorded')
      .option(...yesOption)
      .option(...acceptOption)
      .option(...newBudgetOption)
      .option('--json', 'one JSON document on stdout');
  const placed = (made: Command) =>
    made
      .requiredOption('--column <name>', 'a column that the policy does not declare')
      .option('--table <name>', 'of this table of the policy');
  paying(
    placed(command('keys', 'which values a column has: those that many rows have, as a declared category'))
      .option('--most <n>', 'so many values at most', '50')
      .option('--longest <bytes>', 'values of more bytes are left out; fewer mean less noise', '16'),
  ).action(async (file: string, words: Words) => {
    const { keysLearning } = await import('../api/learn-domain.js');
    const request = { ...place(words), most: whole('--most', words.most), longest: whole('--longest', words.longest) };
    await run(keysLearning(file, { ...request, ...part(words) }), words, keysText);
  });
  paying(
    placed(command('bounds', 'between which round numbers a column lies, and of how many digits it is'))
      .option('--within <number>', 'no number is farther from 0, whatever this data holds', '1000000')
      .option('--tail <share>', 'the share of rows that may lie below the bounds, and above them', '0.005'),
  ).action(async (file: string, words: Words) => {
    const { boundsLearning } = await import('../api/learn-domain.js');
    const request = { ...place(words), within: number('--within', words.within), tail: number('--tail', words.tail) };
    await run(boundsLearning(file, { ...request, ...part(words) }), words, boundsText);
  });
  paying(
    command('rows', 'how many rows of one person are used in a table: as many as nearly everybody has')
      .requiredOption('--table <name>', 'a table of the policy')
      .option('--most <n>', 'nobody has more, whatever this data holds', '1000')
      .option('--share <share>', 'the share of the persons in it of whom every row is to be used', '0.95'),
  ).action(async (file: string, words: Words) => {
    const { rowsLearning } = await import('../api/learn-domain.js');
    const request = { table: words.table!, most: whole('--most', words.most), share: number('--share', words.share) };
    await run(rowsLearning(file, { ...request, ...part(words) }), words, rowsText);
  });
}

const place = ({ column, table: of }: Words) => ({ column, ...(of !== undefined && { table: of }) });
const part = ({ epsilon, fresh }: Words) => ({ ...(epsilon !== undefined && { epsilon }), ...(fresh && { fresh }) });
function number(option: string, text: string | undefined): number {
  const value = Number(text);
  if (text !== undefined && text.trim() !== '' && Number.isFinite(value)) return value;
  throw new Fault('USAGE', `${option} must be a number.`, `Write for example ${option} 100.`);
}
function whole(option: string, text: string | undefined): number {
  const value = number(option, text);
  if (Number.isInteger(value)) return value;
  throw new Fault('USAGE', `${option} must be a whole number.`, `Write for example ${option} 20.`);
}

async function run<R>(
  made: Promise<DomainLearning<R>>,
  words: Words,
  resultText: (result: R) => readonly string[],
): Promise<void> {
  const { file, declared, release, enter } = await made;
  outcomes.arise();
  const learned = await enter(await withSession(file, { ...spendingDecision(words), policy: declared }, (fugu) => release(fugu)));
  emit(words.json, learned, () => [...resultText(learned.result), ...enteredText(learned)].join('\n'));
}

function enteredText<R>({ entered, policy, receipt }: LearnedDomain<R>): readonly string[] {
  const { entry, replayed } = receipt.ledger;
  return [
    ...(entered === undefined ? [] : [`Entered into ${policy}:`, `  ${entered}`]),
    replayed ? recordedText(receipt.at, entry) : paidText(entry, receipt.epsilon),
  ];
}

const mostShown = 20;
function keysText({ keys, least, noiseScale }: LearnedKeys): readonly string[] {
  const found = `What ${numberText(least)} rows have is found with 95 %; the noise in every count has scale ${numberText(noiseScale)}.`;
  if (keys.length === 0)
    return [`No value was seen above the noise. ${found}`, 'Allow shorter values (--longest), or more --epsilon.'];
  const rows = keys.slice(0, mostShown).map(({ key, rows: count }) => [key, `${Math.round(count)}`]);
  const more = keys.length > mostShown ? [`… and ${keys.length - mostShown} more.`] : [];
  return [table(['value', 'rows, noisy'], rows), ...more, found, 'All other values count as missing.'];
}
const boundsText = ({ column, bounds: [low, high], step, rankError }: LearnedBounds): readonly string[] => [
  `${column} lies between ${low} and ${high}${step === 1 ? ', in whole numbers' : `, in steps of ${step}`}; how many rows lie beyond may be off by ${Math.ceil(rankError)}.`,
  'What lies beyond is read as the nearest bound.',
];
const rowsText = ({ table: of, maxRows, rankError }: LearnedRows): readonly string[] => [
  `${maxRows} row${maxRows === 1 ? '' : 's'} of one person in ${of} are used; how many persons have more may be off by ${Math.ceil(rankError)}.`,
];
