import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Temporal } from '../api/temporal.js';
import { bold, dim, numberText, table } from '../report/terminal-text.js';
import { emit } from './output.js';

interface Words {
  readonly backward?: string;
  readonly forward?: string;
  readonly epsilon?: string;
  readonly target?: string;
  readonly steps?: string;
  readonly json?: boolean;
}

export function registerTemporalCommand(program: Command): void {
  program
    .command('temporal')
    .description('what one release per step tells about each step, or budgets that keep it within a target')
    .option('--backward <file>', 'JSON matrix: P(state before | state now)')
    .option('--forward <file>', 'JSON matrix: P(state after | state now)')
    .option('--epsilon <epsilon>', 'every step spends this')
    .option('--target <leakage>', 'find budgets that keep the leakage of every step within this')
    .option('--steps <n>', 'how many steps (with --target: for ever when left out)')
    .option('--json', 'one JSON document on stdout')
    .action(async ({ json, steps, ...words }: Words) => {
      if (steps !== undefined && !/^\d{1,7}$/.test(steps))
        throw new Fault('USAGE', 'The number of steps is a whole number from 1 to 1,000,000.', 'Write for example --steps 52.');
      const { temporal } = await import('../api/temporal.js');
      const found = await temporal({ ...words, ...(steps !== undefined && { steps: Number(steps) }) });
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
