import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import { readJson } from '../api/named-text.js';
import type { StreamedStep, StreamOptions, StreamPlan } from '../api/stream.js';
import { dim, numberText, warn } from '../report/terminal-text.js';
import { acceptOption, newBudgetOf, newBudgetOption, spendingDecision, yesOption } from './confirm-spending.js';
import { refuseUnreadOptions } from './options.js';
import { emit, printJsonLine, printNote, printOut, progressBar, warnCaution } from './output.js';
import { outcomes } from './process-ending.js';
import { asTyped } from './typed.js';

interface Words {
  readonly query?: string;
  readonly sql?: string;
  readonly every: string;
  readonly order?: string;
  readonly totals?: boolean;
  readonly horizon?: string;
  readonly through?: string;
  readonly since?: string;
  readonly late?: string;
  readonly arrived?: string;
  readonly gaps?: string;
  readonly epsilon?: string;
  readonly tidy?: boolean;
  readonly fresh?: boolean;
  readonly follow?: string;
  readonly plan?: boolean;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function registerStreamCommand(program: Command): void {
  program
    .command('stream')
    .description('one release for every step of time that is over, or running totals; goes on where it was')
    .argument('<policy>', 'policy file')
    .requiredOption('--every <step>', 'how many units of the order column make a step, or a word for one (day)')
    .option('--query <json>', 'what to ask of every step, as JSON or @file.json')
    .option('--sql <text>', 'the same as SQL text, without the step in it')
    .option('--order <column>', 'public whole-number column; that of the declared sequence when left out')
    .option('--totals', 'totals from the first step on, paid for once over the horizon')
    .option('--horizon <n>', 'with --totals: how many steps (default: as many as the bounds of the column hold)')
    .option('--through <unit>', 'units up to this one are over (default: all before the last step with rows)')
    .option('--since <step>', 'print steps from this one on')
    .option('--late <rule>', 'rows for steps that were released: refuse (default), or next: count them when they came in')
    .option('--arrived <column>', 'with --late next: public column that says when a row came in')
    .option('--gaps <rule>', 'steps without rows: refuse (default) or empty')
    .option('--epsilon <part>', "part of the policy's epsilon: for each step, or for all totals together (default: a tenth)")
    .option('--fresh', 'with --totals: pay for a new horizon')
    .option('--tidy', 'no negative counts, totals that agree (post-processing)')
    .option('--plan', 'say what it would cost and how wrong it would be; spends nothing')
    .option('--follow <seconds>', 'look again after so many seconds, until stopped')
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option(...yesOption)
    .option('--json', 'one JSON document per step, each on a line of its own')
    .action(async (file: string, words: Words, command: Command) => {
      if (words.plan) return tellPlan(file, words, command);
      outcomes.arise();
      const { streamWith } = await import('../api/stream.js');
      const { decide, ...spending } = spendingDecision(words);
      // Consent to the first step covers the stream.
      let agreed = false;
      const once =
        decide &&
        (async (plan: Plan) => {
          if (!agreed) await decide(plan);
          agreed = true;
        });
      const settings = {
        outcomes,
        caution: warnCaution,
        ...spending,
        progress: progressBar('reading ties'),
        ...(once && { decide: once }),
      };
      const wait = words.follow === undefined ? undefined : seconds(words.follow);
      const since = words.since === undefined ? 1 : number(words.since, 'since');
      const request = { ...optionsOf(words), since, ...(words.fresh && { fresh: true }) };
      const streamed =
        wait === undefined ? streamWith(file, request, settings) : (await followed())(file, request, settings, wait);
      let last: StreamedStep | undefined;
      for await (const step of streamed) {
        printStep(words.json, step, last === undefined);
        // The answer was delivered: a later end of the process does not report it.
        outcomes.forget(step.entry);
        last = step;
      }
      if (!words.json && words.through === undefined) printNote(dim(waitingText(last)));
    });
}

/** Options that a plan does not use: how steps are printed and paid for. */
const ofTelling = ['since', 'follow', 'yes'];

async function tellPlan(file: string, words: Words, command: Command): Promise<void> {
  const read = command.options.map((option) => option.attributeName()).filter((name) => !ofTelling.includes(name));
  refuseUnreadOptions(command, read, 'It says how steps are printed, or paid for: leave it out, or leave out --plan.');
  const { fresh, acceptNoProtection } = words;
  const { planStream } = await import('../api/stream.js');
  const plan = await planStream(file, {
    ...optionsOf(words),
    ...newBudgetOf(words),
    ...(fresh && { fresh }),
    ...(acceptNoProtection && { acceptNoProtection }),
  });
  emit(words.json, plan, () => planText(plan));
}

const waitingText = (last: StreamedStep | undefined): string =>
  `${last === undefined ? 'No step is over yet' : `Released up to ${last.units[1]}`}: a step is released when a later one has rows, or with --through.`;

const followed = async () => (await import('../api/stream-follow.js')).followWith;

function optionsOf(words: Words): StreamOptions {
  const { query, sql, order, totals, late, arrived, gaps, epsilon, tidy } = words;
  return {
    ...(query !== undefined && { query: readJson(query) as StreamOptions['query'] }),
    sql,
    order,
    totals,
    arrived,
    epsilon,
    tidy,
    every: /^\p{L}+$/u.test(words.every) ? 1 : number(words.every, 'every'),
    ...(words.horizon !== undefined && { horizon: number(words.horizon, 'horizon') }),
    ...(words.through !== undefined && { through: number(words.through, 'through') }),
    ...(late !== undefined && { late: oneOf(late, 'late', ['refuse', 'next'] as const) }),
    ...(gaps !== undefined && { gaps: oneOf(gaps, 'gaps', ['refuse', 'empty'] as const) }),
  };
}

function planText({ label, epsilon, budget, fits, refusal, why, errors, totals, warnings = [] }: StreamPlan): string {
  const at = (step: number) => `${numberText(1.96 * totals!.standardErrors[step - 1]!)} at step ${step}`;
  const last = totals?.standardErrors.length ?? 0;
  return [
    `${label}: epsilon ${numberText(epsilon)} of ${numberText(budget.total)}${totals ? ', once for all steps' : ' for each step'}.`,
    why,
    ...(totals
      ? [`95 % error of a total: ${[...new Set([1, Math.ceil(last / 2), last])].map(at).join(', ')}.`]
      : errors.map(({ name, halfWidth }) => `95 % error: ±${numberText(halfWidth)}  ${name}`)),
    ...warnings.map((text) => warn(asTyped(`Warning: ${text}`))),
    fits ? 'Fits in the budget.' : (refusal ?? 'Does not fit in the budget.'),
  ].join('\n');
}

function number(text: string, flag: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new Fault('USAGE', `--${flag} takes a whole number.`, `Write for example --${flag} 7.`);
}
function seconds(text: string): number {
  const n = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (n > 0) return n;
  throw new Fault('USAGE', '--follow takes a number of seconds above 0.', 'Write for example --follow 60.');
}
function oneOf<T extends string>(text: string, flag: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new Fault('USAGE', `--${flag} is ${words.join(' or ')}.`, `Write for example --${flag} ${words[0]}.`);
}

function printStep(json: boolean | undefined, streamed: StreamedStep, isFirst: boolean): void {
  if (json) {
    printJsonLine(streamed);
    return;
  }
  const { units, tables = [], totals = [], entry, replayed, receipt } = streamed;
  const [first, last] = units;
  const when = first === last ? `${first}` : `${first} to ${last}`;
  const name = (keys: readonly string[]) => (keys.length > 0 ? `${keys.join(', ')}: ` : '');
  const answers = [
    ...totals.map(({ keys, total, standardError }) => `${name(keys)}${numberText(total)} ±${numberText(1.96 * standardError)}`),
    ...tables.flatMap(({ rows }) =>
      rows.map(
        ({ keys, value, low, high }) =>
          `${name(keys)}${value === null ? '-' : numberText(value)}${low === null || high === null ? '' : ` (${numberText(low)} to ${numberText(high)})`}`,
      ),
    ),
  ];
  if (receipt && isFirst) {
    printOut(dim(receipt.guarantee.sentences[0]!));
    for (const text of receipt.warnings ?? []) printOut(warn(asTyped(`Warning: ${text}`)));
  }
  printOut(`${when}  ${answers.join('  ')}  ${dim(replayed ? `recorded, entry ${entry}` : `entry ${entry}`)}`);
}
