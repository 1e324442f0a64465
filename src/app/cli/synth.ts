import type { Command } from 'commander';
import type { SynthRequest } from '../../analysis/synth/form.js';
import type { SynthResult } from '../../analysis/synth/release.js';
import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import { dim, numberText } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { synthOptions } from './option-tables.js';
import { emit, paidText, printNote, progressBar, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, type ValuesOf, valuesOf } from './request-options.js';
import { withSession } from './session.js';

type Values = ValuesOf<typeof synthOptions>;

export function registerSynthCommand(program: Command): void {
  const command = program
    .command('synth')
    .description('synthetic rows that look like the data, made of noisy tables; spends budget')
    .argument('<policy>', 'policy file');
  addOptions(command, synthOptions).action(synth);
}

async function synth(file: string, words: OptionWords): Promise<void> {
  outcomes.arise();
  const values = await valuesOf(synthOptions, words);
  const { out, overwrite, epsilon, fresh, json } = values;
  // All code that formats the answer is loaded before payment.
  const { refuseExisting, writeSynth } = await import('./write-synth.js');
  refuseExisting(out, overwrite);
  const request = requestFrom(values);
  const { decide, ...spending } = spendingDecision(values);
  const showAndDecide = async (plan: Plan) => {
    for (const line of sizeText(plan)) printNote(line);
    await decide?.(plan);
  };
  const { answer, files } = await withSession(file, { decide: showAndDecide, ...spending }, async (fugu, policy) => {
    const answer = await fugu.release({ synth: request, progress: progressBar('choosing and measuring') }, { epsilon, fresh });
    return { answer, files: await writeSynth(out, answer, policy) };
  });
  const { result, receipt } = answer;
  const { mode, rows, total, measured, quality, households } = result;
  emit(json, { written: files, mode, rows, total, measured, quality, ...(households && { households }), receipt }, () =>
    [
      `Wrote ${files[0]}: ${rows.toLocaleString('en-US')} rows of ${result.columns.length} columns, made of ${measured.length} noisy tables (${mode}).${homesText(result)}`,
      `Beside it: ${files.slice(1).join(', ')}.`,
      ...receipt.guarantee.sentences,
      ...receipt.guarantee.assumptions.map((s) => `${dim('Assumption:')} ${s}`),
      receipt.ledger.replayed
        ? recordedText(receipt.at, receipt.ledger.entry)
        : paidText(receipt.ledger.entry, receipt.epsilon, receipt.ledger.resumed),
      'Good for what its tables say (see the page); not for rare cells, single rows, or tables of columns that were never measured together.',
    ].join('\n'),
  );
}

const homesText = ({ households }: SynthResult): string =>
  households
    ? ` They are ${households.count.toLocaleString('en-US')} households (${households.by}), put together by ${households.measured.length} noisy tables of two members.`
    : '';

/** Size of the task and its cost, before it starts. */
function sizeText(plan: Plan): string[] {
  const { synth } = plan as Plan & {
    readonly synth?: { readonly columns: number; readonly tables: number; readonly cells: number; readonly memory: number };
  };
  if (!synth) return [];
  return [
    `${plan.label}: epsilon ${numberText(plan.epsilon)} of ${numberText(plan.budget.total)}. ${synth.columns} columns, ${synth.tables} tables to choose from, a model of up to ${synth.cells.toLocaleString('en-US')} cells; about ${Math.ceil(synth.memory / 1e6)} MB of memory beside the program itself.`,
  ];
}

function requestFrom({ request, rows, mode, columns, except, upTo, cells, households, shared }: Values): SynthRequest {
  if (shared !== undefined && households === undefined)
    throw new Fault('USAGE', '--shared says what households share.', 'Write --households COLUMN as well.');
  return {
    ...request,
    ...Object.fromEntries(
      Object.entries({ mode, rows, upTo, cells, columns, except }).filter(([, value]) => value !== undefined),
    ),
    ...(households !== undefined && { households: { by: households, shared } }),
  };
}
