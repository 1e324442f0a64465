import type { Command } from 'commander';
import type { LearnedTransitions } from '../../analysis/learn/transitions/learn-transitions.js';
import { Fault } from '../../base/errors.js';
import { refuseUnwritable } from '../../base/files/write-file.js';
import type { Receipt } from '../../release/session/receipt.js';
import { numberText, table } from '../report/terminal-text.js';
import { acceptOption, newBudgetOption, spendingDecision, yesOption } from './confirm-spending.js';
import { useText } from './learned-text.js';
import { emit, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { withSession } from './session.js';
import { asTyped } from './typed.js';

interface Words {
  readonly out: string;
  readonly by?: string;
  readonly order?: string;
  readonly state?: string;
  readonly epsilon?: string;
  readonly fresh?: boolean;
  readonly public?: boolean;
  readonly yes?: boolean;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
  readonly json?: boolean;
}

export function registerTransitionsCommand(learn: Command): void {
  learn
    .command('transitions')
    .description('which state follows which from one step to the next: a matrix that a sequence can declare')
    .argument('<policy>', 'policy file')
    .requiredOption('--out <file>', 'where to write it, as JSON')
    .option('--by <column>', "whose steps (default: the declared sequence's, or the unit)")
    .option('--order <column>', 'whole numbers: the next step is one more')
    .option('--state <column>', 'the state that changes')
    .option('--epsilon <part>', "pay for it with this part of the policy's epsilon; without it the file is marked unpaid")
    .option('--fresh', 'with --epsilon: learn from the data as it is now and pay, also when a result is recorded')
    .option('--public', 'the rows are public already (an earlier wave): mark the file so')
    .option(...yesOption)
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option('--json', 'one JSON document on stdout')
    .action(run);
}

async function run(file: string, words: Words): Promise<void> {
  const { out, by, order, state, epsilon, fresh } = words;
  const columns = {
    ...(by !== undefined && { by }),
    ...(order !== undefined && { order }),
    ...(state !== undefined && { state }),
  };
  refuseUnwritable(out, { hint: 'Choose another --out.' });
  const { learnTransitions, writeLearnedTransitions } = await import('../api/transitions.js');
  if (epsilon === undefined)
    return printLearned(words, await learnTransitions(file, { ...columns, out, public: words.public === true }));
  if (words.public)
    throw new Fault(
      'USAGE',
      'Public rows need not be paid for.',
      'Leave out --epsilon, or leave out --public to learn from the protected rows.',
    );
  outcomes.arise();
  const { result, receipt } = await withSession(file, spendingDecision(words), (fugu) =>
    fugu.release({ transitions: columns }, { epsilon, fresh }),
  );
  writeLearnedTransitions(out, result);
  printLearned(words, result, receipt, result.noiseScale);
}

function printLearned({ out, json }: Words, learned: LearnedTransitions, receipt?: Receipt, noiseScale?: number): void {
  const { states, transition, origin, pairs } = learned;
  const document = { written: out, states, transition, origin, pairs, ...(noiseScale !== undefined && { noiseScale }) };
  emit(json, { ...document, ...(receipt && { receipt }) }, () =>
    [
      `Wrote ${out}: ${states.length} states, ${numberText(Math.round(pairs))} pairs of steps.`,
      table(
        ['from', ...states],
        transition.map((row, k) => [states[k]!, ...row.map(numberText)]),
      ),
      ...(noiseScale === undefined ? [] : [`Every count has noise of scale ${numberText(noiseScale)}.`]),
      useText(origin.learned),
      ...(receipt?.ledger.replayed ? [recordedText(receipt.at, receipt.ledger.entry)] : []),
      asTyped(
        'It describes these rows, up to noise and chance. Declared (kind: sequence), whatever it misses is unprotected; and declaring it changes the terms of the budget: "fugu ledger POLICY amend --reason TEXT".',
      ),
    ].join('\n'),
  );
}
