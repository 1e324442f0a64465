import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { within, withinMagnitude } from '../../base/input/limits.js';
import type { ModelPosterior } from '../../evaluate/attack/posterior.js';
import type { BelievedValue } from '../api/posterior.js';
import { bold, dim, numberText, table } from '../report/terminal-text.js';
import { emit } from './output.js';

interface Words {
  readonly universe?: string;
  readonly prior?: string;
  readonly known?: string;
  readonly about?: string;
  readonly query: string;
  readonly answer: string;
  readonly scale?: string;
  readonly sigma?: string;
  readonly json?: boolean;
}

export function registerPosteriorCommand(program: Command): void {
  program
    .command('posterior')
    .description('what an attacker believes after a noisy answer, value by value')
    .argument('[model]', 'a model, as for fugu leak: the belief about one record, with and without the ties')
    .option('--universe <values>', 'without a model: every value the unknown record can take, e.g. 1,2,3,5,10')
    .option('--prior <p>', 'their probabilities (uniform when absent)')
    .option('--known <values>', 'what the attacker knows: values (1,2,3), or with a model records (bob=1,eve=0)')
    .option('--about <record>', 'with a model: the record in question')
    .option('--query <q>', 'sum, mean, min, max; with a model as in "fugu audit"', 'sum')
    .requiredOption('--answer <r>', 'the released answer (several numbers separated by commas)')
    .option('--scale <s>', 'scale of Laplace noise')
    .option('--sigma <s>', 'standard deviation of Gaussian noise')
    .option('--json', 'one JSON document on stdout')
    .action((model: string | undefined, words: Words) => (model === undefined ? oneValue(words) : onModel(model, words)));
}

const usage = (message: string, hint: string) => new Fault('USAGE', message, hint);

function numbers(text: string, what: string): number[] {
  const parts = text.split(',');
  within('numbers', parts.length);
  const list = parts.map((t) => (t.trim() === '' ? Number.NaN : Number(t)));
  if (!list.every(Number.isFinite)) throw usage(`The ${what} must be numbers separated by commas.`, 'For example 1,2,3,5,10.');
  for (const x of list) withinMagnitude(x, `A number of the ${what}`);
  return list;
}

function noiseFrom({ scale, sigma }: Words): { scale?: number; sigma?: number } {
  if ((scale === undefined) === (sigma === undefined))
    throw usage('Say how much noise was added.', 'Use --scale S (Laplace) or --sigma S (Gaussian); both are on the receipt.');
  return scale !== undefined ? { scale: Number(scale) } : { sigma: Number(sigma) };
}

const queries = ['sum', 'mean', 'min', 'max'] as const;

async function oneValue(words: Words): Promise<void> {
  if (words.universe === undefined)
    throw usage(
      'Say which values are possible, or give a model.',
      'For example --universe 1,2,3,5,10 --known 1,2,3 --query mean.',
    );
  const query = queries.find((name) => name === words.query);
  if (!query)
    throw usage('The query is not one this command knows.', 'Use sum, mean, min or max; with a model any query of "fugu audit".');
  const { posterior } = await import('../api/posterior.js');
  const rows = await posterior({
    known: words.known === undefined ? [] : numbers(words.known, 'known values'),
    universe: numbers(words.universe, 'values'),
    ...(words.prior !== undefined && { prior: numbers(words.prior, 'prior probabilities') }),
    query,
    answer: numbers(words.answer, 'answer'),
    ...noiseFrom(words),
  });
  emit(words.json, { rows }, () => rowsText(rows));
}

const rowsText = (rows: readonly BelievedValue[]) =>
  table(
    ['value', 'prior', 'exact answer', 'noise needed', 'density', 'posterior'],
    rows.map((r) => [
      `${r.value}`,
      r.prior.toFixed(4),
      numberText(r.expected),
      numberText(r.noise),
      r.density.toFixed(4),
      r.posterior.toFixed(4),
    ]),
  );

async function onModel(file: string, words: Words): Promise<void> {
  const known = Object.fromEntries(
    (words.known?.split(',') ?? []).map((pair) => {
      const [id = '', value = ''] = pair.split('=');
      if (value.trim() === '' || !Number.isFinite(Number(value)))
        throw usage('What is known must name records and values.', 'For example --known bob=1,eve=0.');
      return [id.trim(), Number(value)];
    }),
  );
  const { about, query } = words;
  const { posteriorOnModel } = await import('../api/posterior.js');
  const found = await posteriorOnModel(file, {
    about,
    known,
    query,
    answer: numbers(words.answer, 'answer'),
    ...noiseFrom(words),
  });
  emit(words.json, found, () => modelText(found));
}

function modelText({ about, withTies, withoutTies, gain, assumptions }: ModelPosterior): string {
  return [
    `${bold(about)}: what the answer makes an attacker believe`,
    table(
      ['value', 'prior', 'posterior, ties known', 'prior, strangers', 'posterior, strangers'],
      withTies.map((b, k) => [
        `${b.value}`,
        b.prior.toFixed(4),
        b.posterior.toFixed(4),
        withoutTies[k]!.prior.toFixed(4),
        withoutTies[k]!.posterior.toFixed(4),
      ]),
    ),
    `The answer moved log-odds by ${numberText(gain.withTies)} for an attacker who knows the ties, by ${numberText(gain.withoutTies)} for one who takes the records for strangers.`,
    ...assumptions.map((a) => dim(a)),
  ].join('\n');
}
