import type { Command } from 'commander';
import { type ModelPosterior, type PosteriorRow, posteriorOnModel, posteriorTable } from '../attack/posterior.js';
import { Fault } from '../errors.js';
import { within, withinMagnitude } from '../input/limits.js';
import type { AdditiveLaw } from '../mechanism/law.js';
import { bold, dim, emit, figure, table } from './output.js';
import { readModelFile } from './workbench.js';

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

export function register(program: Command): void {
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

function noiseOf({ scale, sigma }: Words): AdditiveLaw<number> {
  if ((scale === undefined) === (sigma === undefined))
    throw usage('Say how much noise was added.', 'Use --scale S (Laplace) or --sigma S (Gaussian); both are on the receipt.');
  const size = Number(scale ?? sigma);
  if (Number.isFinite(size)) withinMagnitude(size, 'The noise');
  return scale !== undefined ? { kind: 'laplace', scale: size } : { kind: 'gaussian', variance: size ** 2 };
}

const queries: Record<string, (values: readonly number[]) => number> = {
  sum: (v) => v.reduce((s, x) => s + x, 0),
  mean: (v) => v.reduce((s, x) => s + x, 0) / v.length,
  min: (v) => Math.min(...v),
  max: (v) => Math.max(...v),
};

function oneValue(words: Words): void {
  if (words.universe === undefined)
    throw usage(
      'Say which values are possible, or give a model.',
      'For example --universe 1,2,3,5,10 --known 1,2,3 --query mean.',
    );
  const query = Object.hasOwn(queries, words.query) ? queries[words.query] : undefined;
  if (!query)
    throw usage('The query is not one this command knows.', 'Use sum, mean, min or max; with a model any query of "fugu audit".');
  const known = words.known === undefined ? [] : numbers(words.known, 'known values');
  const rows = posteriorTable({
    universe: numbers(words.universe, 'values'),
    ...(words.prior !== undefined && { prior: numbers(words.prior, 'prior probabilities') }),
    answerIf: (value) => [query([...known, Number(value)])],
    answer: numbers(words.answer, 'answer'),
    noise: noiseOf(words),
  });
  emit(words.json, { rows: rows.map(plainRow) }, () => rowsText(rows));
}

const plainRow = (r: PosteriorRow) => ({ ...r, expected: r.expected[0], noise: r.noise[0] });
const rowsText = (rows: readonly PosteriorRow[]) =>
  table(
    ['value', 'prior', 'exact answer', 'noise needed', 'density', 'posterior'],
    rows.map((r) => [
      `${r.value}`,
      r.prior.toFixed(4),
      figure(r.expected[0]!),
      figure(r.noise[0]!),
      r.density.toFixed(4),
      r.posterior.toFixed(4),
    ]),
  );

function onModel(file: string, words: Words): void {
  const model = readModelFile(file);
  const about = words.about ?? model.ids[0]!;
  const known = Object.fromEntries(
    (words.known?.split(',') ?? []).map((pair) => {
      const [id = '', value = ''] = pair.split('=');
      if (value.trim() === '' || !Number.isFinite(Number(value)))
        throw usage('What is known must name records and values.', 'For example --known bob=1,eve=0.');
      withinMagnitude(Number(value), 'A known value');
      return [id.trim(), Number(value)];
    }),
  );
  const found = posteriorOnModel(model, {
    about,
    known,
    query: words.query,
    answer: numbers(words.answer, 'answer'),
    noise: noiseOf(words),
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
    `The answer moved log-odds by ${figure(gain.withTies)} for an attacker who knows the ties, by ${figure(gain.withoutTies)} for one who takes the records for strangers.`,
    ...assumptions.map((a) => dim(a)),
  ].join('\n');
}
