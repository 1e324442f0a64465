import type { Command } from 'commander';
import type { LearnedTransitions } from '../../analysis/learn/transitions/learn-transitions.js';
import { Fault } from '../../base/errors.js';
import { refuseUnwritable } from '../../base/files/write-file.js';
import type { Receipt } from '../../release/session/receipt.js';
import { numberText, table } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { useText } from './learned-text.js';
import { learnTransitionsOptions } from './option-tables.js';
import { emit, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';
import { withSession } from './session.js';
import { asTyped } from './typed.js';

export function registerTransitionsCommand(learn: Command): void {
  const command = learn
    .command('transitions')
    .description('which state follows which from one step to the next: a matrix that a sequence can declare')
    .argument('<policy>', 'policy file');
  addOptions(command, learnTransitionsOptions).action(run);
}

async function run(file: string, words: OptionWords): Promise<void> {
  const values = await valuesOf(learnTransitionsOptions, words);
  const { out, by, order, state, epsilon, fresh, json } = values;
  const columns = { by, order, state };
  refuseUnwritable(out, { hint: 'Choose another --out.' });
  const { learnTransitions, writeLearnedTransitions } = await import('../api/transitions.js');
  if (epsilon === undefined)
    return printLearned({ out, json }, await learnTransitions(file, { ...columns, out, public: values.public }));
  if (values.public)
    throw new Fault(
      'USAGE',
      'Public rows need not be paid for.',
      'Leave out --epsilon, or leave out --public to learn from the protected rows.',
    );
  outcomes.arise();
  const { result, receipt } = await withSession(file, spendingDecision(values), (fugu) =>
    fugu.release({ transitions: columns }, { epsilon, fresh }),
  );
  writeLearnedTransitions(out, result);
  printLearned({ out, json }, result, receipt, result.noiseScale);
}

function printLearned(
  { out, json }: { readonly out: string; readonly json: boolean | undefined },
  learned: LearnedTransitions,
  receipt?: Receipt,
  noiseScale?: number,
): void {
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
