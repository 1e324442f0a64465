import type { Command } from 'commander';
import type { DomainLearning, LearnedBounds, LearnedDomain, LearnedKeys, LearnedRows } from '../api/learn-domain.js';
import { numberText, table } from '../report/terminal-text.js';
import { type PaymentOptions, spendingDecision } from './confirm-spending.js';
import { learnBoundsOptions, learnKeysOptions, learnRowsOptions } from './option-tables.js';
import { emit, paidText, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';
import { withSession } from './session.js';

/** Commands that learn required declarations nobody knows: paid for, and entered into the policy. */
export function registerDomainCommands(learn: Command): void {
  const command = (name: string, what: string) =>
    learn.command(name).description(what).argument('<policy>', 'policy file; what is learned is entered into it');
  addOptions(
    command('keys', 'which values a column has: those that many rows have, as a declared category'),
    learnKeysOptions,
  ).action(async (file: string, words: OptionWords) => {
    const { keysLearning } = await import('../api/learn-domain.js');
    const { yes, json, acceptNoProtection, newBudget, ...request } = await valuesOf(learnKeysOptions, words);
    await run(keysLearning(file, request), { yes, json, acceptNoProtection, newBudget }, keysText);
  });
  addOptions(
    command('bounds', 'between which round numbers a column lies, and of how many digits it is'),
    learnBoundsOptions,
  ).action(async (file: string, words: OptionWords) => {
    const { boundsLearning } = await import('../api/learn-domain.js');
    const { yes, json, acceptNoProtection, newBudget, ...request } = await valuesOf(learnBoundsOptions, words);
    await run(boundsLearning(file, request), { yes, json, acceptNoProtection, newBudget }, boundsText);
  });
  addOptions(
    command('rows', 'how many rows of one person are used in a table: as many as nearly everybody has'),
    learnRowsOptions,
  ).action(async (file: string, words: OptionWords) => {
    const { rowsLearning } = await import('../api/learn-domain.js');
    const { yes, json, acceptNoProtection, newBudget, ...request } = await valuesOf(learnRowsOptions, words);
    await run(rowsLearning(file, request), { yes, json, acceptNoProtection, newBudget }, rowsText);
  });
}

async function run<R>(
  made: Promise<DomainLearning<R>>,
  payment: PaymentOptions,
  resultText: (result: R) => readonly string[],
): Promise<void> {
  const { file, declared, release, enter } = await made;
  outcomes.arise();
  const learned = await enter(
    await withSession(file, { ...spendingDecision(payment), policy: declared }, (fugu) => release(fugu)),
  );
  emit(payment.json, learned, () => [...resultText(learned.result), ...enteredText(learned)].join('\n'));
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
