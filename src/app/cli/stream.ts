import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import type { StreamedStep, StreamOptions, StreamPlan } from '../api/stream.js';
import { dim, numberText, warn } from '../report/terminal-text.js';
import { newBudgetOf, spendingDecision } from './confirm-spending.js';
import { streamCommandOptions } from './option-tables.js';
import { refuseUnreadOptions } from './options.js';
import { emit, printJsonLine, printNote, printOut, progressBar, warnCaution } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, type ValuesOf, valuesOf } from './request-options.js';
import { asTyped } from './typed.js';

type Values = ValuesOf<typeof streamCommandOptions>;

export function registerStreamCommand(program: Command): void {
  const stream = program
    .command('stream')
    .description('one release for every step of time that is over, or running totals; goes on where it was')
    .argument('<policy>', 'policy file');
  addOptions(stream, streamCommandOptions).action(async (file: string, words: OptionWords, command: Command) => {
    if (words.plan) return tellPlan(file, words, command);
    outcomes.arise();
    const values = await valuesOf(streamCommandOptions, words);
    const { since = 1, fresh, follow, json, through } = values;
    const { streamWith } = await import('../api/stream.js');
    const { decide, ...spending } = spendingDecision(values);
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
    const wait = follow === undefined ? undefined : seconds(follow);
    const request = { ...requestOf(values), since, fresh };
    const streamed = wait === undefined ? streamWith(file, request, settings) : (await followed())(file, request, settings, wait);
    let last: StreamedStep | undefined;
    for await (const step of streamed) {
      printStep(json, step, last === undefined);
      // The answer was delivered: a later end of the process does not report it.
      outcomes.forget(step.entry);
      last = step;
    }
    if (!json && through === undefined) printNote(dim(waitingText(last)));
  });
}

/** Options that a plan does not use: how steps are printed and paid for. */
const ofTelling = ['since', 'follow', 'yes'];

async function tellPlan(file: string, words: OptionWords, command: Command): Promise<void> {
  const read = command.options.map((option) => option.attributeName()).filter((name) => !ofTelling.includes(name));
  refuseUnreadOptions(command, read, 'It says how steps are printed, or paid for: leave it out, or leave out --plan.');
  const values = await valuesOf(streamCommandOptions, words);
  const { fresh, acceptNoProtection, json } = values;
  const { planStream } = await import('../api/stream.js');
  const plan = await planStream(file, {
    ...requestOf(values),
    ...newBudgetOf(values),
    fresh,
    acceptNoProtection,
  });
  emit(json, plan, () => planText(plan));
}

const waitingText = (last: StreamedStep | undefined): string =>
  `${last === undefined ? 'No step is over yet' : `Released up to ${last.units[1]}`}: a step is released when a later one has rows, or with --through.`;

const followed = async () => (await import('../api/stream-follow.js')).followWith;

function requestOf({
  query,
  sql,
  order,
  every,
  totals,
  horizon,
  through,
  late,
  arrived,
  gaps,
  epsilon,
  tidy,
}: Values): StreamOptions {
  const step = /^\p{L}+$/u.test(every) ? 1 : wholeNumber(every);
  return { query, sql, order, totals, horizon, through, late, arrived, gaps, epsilon, tidy, every: step };
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

function wholeNumber(every: string): number {
  if (/^-?\d{1,15}$/.test(every)) return Number(every);
  throw new Fault('USAGE', '--every takes a whole number.', 'Write for example --every 7.');
}
function seconds(text: string): number {
  const n = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (n > 0) return n;
  throw new Fault('USAGE', '--follow takes a number of seconds above 0.', 'Write for example --follow 60.');
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
