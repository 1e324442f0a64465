import type { Command } from 'commander';
import type { Temporal } from '../api/temporal.js';
import { bold, dim, numberText, table } from '../report/terminal-text.js';
import { temporalCommandOptions } from './option-tables.js';
import { emit } from './output.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';

export function registerTemporalCommand(program: Command): void {
  const command = program
    .command('temporal')
    .description('what one release per step tells about each step, or budgets that keep it within a target');
  addOptions(command, temporalCommandOptions).action(async (words: OptionWords) => {
    const { json, ...request } = await valuesOf(temporalCommandOptions, words);
    const { temporal } = await import('../api/temporal.js');
    const found = await temporal(request);
    emit(json, found, () => human(found));
  });
}

/** First and last steps; --json lists all of them. */
const shown = 8;

function human({ backward, forward, leakage, supremum, budgets }: Temporal): string {
  const steps = leakage.map((leak, t) => [
    `${t + 1}`,
    numberText(budgets[t]!),
    numberText(backward[t]!),
    numberText(forward[t]!),
    numberText(leak),
  ]);
  const few = steps.length <= 2 * shown ? steps : [...steps.slice(0, shown), ['…', '', '', '', ''], ...steps.slice(-shown)];
  return [
    ...(steps.length === 0
      ? [bold(`Every step may spend epsilon ${numberText(budgets[0]!)}, for as long as it goes on.`)]
      : [table(['step', 'epsilon', 'from the past', 'from the future', 'leakage'], few)]),
    '',
    supremum === null
      ? 'Going on at the least of these budgets, leakage passes every bound: what is said about one step is said about all.'
      : `Going on at the least of these budgets, no step ever leaks more than ${numberText(supremum)}.`,
    dim('A proven bound, rounded up, for an attacker who knows everybody else at every step and these matrices.'),
  ].join('\n');
}
