import type { Command } from 'commander';
import {
  type Bench,
  checkTarget,
  errorWith,
  leastEpsilon,
  type Target,
  type TradeOff,
  tradeOff,
} from '../accounting/accuracy.js';
import {
  type BeliefBudget,
  beliefBudget,
  beliefRows,
  identifiability,
  posteriorAtMost,
  readEpsilon,
  readProbability,
} from '../accounting/belief.js';
import { beliefSentence, naturalFrequency, percent } from '../accounting/belief-words.js';
import { Fault } from '../errors.js';
import { parseRational, type Rational, toNumber, toNumberDown, toNumberUp } from '../exact/rational.js';
import { writeWhole } from '../files/write-file.js';
import { bindBatch } from '../query/bind.js';
import { parseBatch } from '../query/parse.js';
import { parseSql } from '../query/sql/sql.js';
import { lineChart } from '../report/line-chart.js';
import { standalone } from '../report/svg.js';
import { surveyBatch } from '../survey/query.js';
import { openEngine } from '../terms/open.js';
import { readPolicy } from '../terms/read.js';
import { declaredAmplifiers } from '../ties/declared.js';
import { bold, dim, emit, figure, table } from './output.js';
import { readJson } from './read-input.js';

interface Words {
  readonly prior?: string;
  readonly posterior?: string;
  readonly among?: string;
  readonly epsilon?: string;
  readonly delta?: string;
  readonly query?: string;
  readonly sql?: string;
  readonly survey?: boolean;
  readonly error?: string;
  readonly confidence: string;
  readonly rows?: string;
  readonly chart?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('epsilon')
    .description('choose a budget: from belief, into belief, or from the accuracy you need')
    .argument('[policy]', 'policy file (with --query, --sql or --survey)')
    .option('--prior <p>', 'what an attacker believes at most before (default 0.1 with a policy)')
    .option('--posterior <p>', 'what they may believe at most after')
    .option('--among <m>', 'one of m equally likely people: prior 1/m')
    .option('--epsilon <e>', 'the reverse: what an epsilon lets an attacker believe')
    .option('--delta <d>', 'probability with which the statement may fail', '0')
    .option('--query <json>', 'workload as JSON, or @file.json')
    .option('--sql <text>', 'workload as SQL')
    .option('--survey', 'workload: one histogram per declared column')
    .option('--error <x>', "half width every number must reach, in the answer's own unit")
    .option('--confidence <c>', 'probability that the interval covers', '0.95')
    .option('--rows <n>', 'about how many rows the smallest group has (means and shares)')
    .option('--chart <file>', 'write the trade-off chart (SVG)')
    .option('--json', 'one JSON document on stdout')
    .action((policy: string | undefined, words: Words) => {
      if (policy !== undefined) return fromAccuracy(policy, words);
      if (words.epsilon !== undefined) return intoBelief(words);
      return fromBelief(words);
    });
}

const readDelta = (words: Words): number => {
  const delta = toNumber(parseRational(words.delta ?? '0', 'delta'));
  if (!(delta >= 0 && delta < 1))
    throw new Fault(
      'BUDGET_INVALID',
      'Delta must be at least 0 and below 1.',
      'Leave it out for a pure guarantee, or write 1e-6.',
    );
  return delta;
};

function fromBelief(words: Words): void {
  if (words.posterior === undefined || (words.prior === undefined) === (words.among === undefined))
    throw new Fault(
      'USAGE',
      'Say what an attacker may believe before and after.',
      'For example: fugu epsilon --prior 0.1 --posterior 0.3; or --among 50 --posterior 0.3; or the reverse: --epsilon 1; or POLICY --query Q --error 50.',
    );
  const posterior = readProbability(words.posterior, 'posterior');
  const budget =
    words.among !== undefined
      ? identifiability(Number(words.among), posterior)
      : beliefBudget(readProbability(words.prior!, 'prior'), posterior);
  const delta = readDelta(words);
  emit(words.json, beliefDocument(budget), () => {
    const { prior, epsilon } = budget;
    return [
      `${bold(`epsilon ${figure(toNumber(epsilon))}`)}  ${dim(`(odds may move by a factor of ${figure(toNumber(budget.oddsFactor))}, up or down)`)}`,
      '',
      beliefSentence(prior, posterior, delta),
      naturalFrequency(prior, epsilon, delta).sentence,
      '',
      dim(`In a policy:  budget: { belief: { prior: ${words.prior ?? `1/${words.among}`}, posterior: ${words.posterior} } }`),
    ].join('\n');
  });
}

const beliefDocument = ({ epsilon, oddsFactor, downward }: BeliefBudget) => ({
  epsilon: toNumberDown(epsilon),
  oddsFactor: toNumber(oddsFactor),
  downward: { from: toNumber(downward.from), to: toNumber(downward.to) },
});

function intoBelief(words: Words): void {
  const epsilon = readEpsilon(words.epsilon!);
  const delta = readDelta(words);
  const priors = words.prior === undefined ? undefined : words.prior.split(',').map((p) => readProbability(p, 'prior'));
  const rows = beliefRows(epsilon, priors);
  const document = {
    epsilon: toNumber(epsilon),
    oddsFactor: Math.exp(toNumberUp(epsilon)),
    delta,
    beliefs: rows.map((r) => ({ prior: r.prior, posterior: r.atMost, atLeast: r.atLeast })),
  };
  emit(words.json, document, () =>
    [
      `${bold(`epsilon ${figure(document.epsilon)}`)}: the odds of anything about one person move by a factor of at most ${figure(document.oddsFactor)}, up or down${delta > 0 ? `, except with probability ${delta}` : ''}.`,
      '',
      table(
        ['believed before', 'at most after', 'at least after'],
        rows.map((r) => [percent(r.prior), percent(r.atMost, 'up'), percent(r.atLeast, 'down')]),
      ),
      '',
      naturalFrequency(priors?.[0] ?? parseRational('0.1'), epsilon, delta).sentence,
    ].join('\n'),
  );
}

const readNumber = (text: string, what: string): number => toNumber(parseRational(text, what));

async function fromAccuracy(file: string, words: Words): Promise<void> {
  const given = [words.query, words.sql, words.survey].filter((w) => w !== undefined).length;
  if (given !== 1)
    throw new Fault('USAGE', 'Say what will be asked in exactly one way.', 'Use one of --query JSON, --sql TEXT or --survey.');
  const target: Omit<Target, 'error'> = {
    confidence: readNumber(words.confidence, 'confidence'),
    ...(words.rows !== undefined && { rows: readNumber(words.rows, 'number of rows') }),
  };
  const error = words.error === undefined ? undefined : readNumber(words.error, 'error');
  checkTarget({ ...target, error: error ?? 1 });
  const prior = readProbability(words.prior ?? '0.1', 'prior');
  const bench = await prepare(file, words);
  const menu = tradeOff(bench, target, prior);
  const solved = error === undefined ? undefined : solve(bench, { ...target, error }, prior);
  if (words.chart !== undefined) writeChart(words.chart, menu, solved, prior, target.confidence);
  const document = {
    ...(solved && { ...solved, target: error }),
    confidence: target.confidence,
    prior: toNumber(prior),
    delta: toNumber(bench.policy.budget.delta),
    policyEpsilon: toNumber(bench.policy.budget.epsilon),
    tradeOff: menu,
  };
  emit(words.json, document, () => accuracyText(document, menu, solved, words));
}

async function prepare(file: string, words: Words): Promise<Bench> {
  const policy = await readPolicy(file);
  const engine = await openEngine(policy);
  try {
    const query = words.survey
      ? surveyBatch(policy)
      : words.sql !== undefined
        ? parseSql(words.sql, policy)
        : readJson(words.query!);
    const bound = bindBatch(parseBatch(query), policy);
    return { policy, bound, amplifiers: (await declaredAmplifiers(policy, engine)).amplifiers };
  } finally {
    await engine.close();
  }
}

function solve(bench: Bench, target: Target, prior: Rational): TradeOff {
  const epsilon = leastEpsilon(bench, target);
  return { epsilon: toNumber(epsilon), error: errorWith(bench, epsilon, target), posterior: posteriorAtMost(prior, epsilon) };
}

function accuracyText(
  document: { confidence: number; prior: number; delta: number; policyEpsilon: number },
  menu: readonly TradeOff[],
  solved: TradeOff | undefined,
  words: Words,
): string {
  const except = document.delta > 0 ? ` (except with probability ${document.delta})` : '';
  const shown = [...menu, ...(solved ? [solved] : [])].sort((a, b) => a.epsilon - b.epsilon);
  return [
    ...(solved
      ? [
          `${bold(`epsilon ${figure(solved.epsilon)}`)} reaches an error of ± ${figure(solved.error)} (${percent(document.confidence)} confidence), all of it spent on this.`,
          `It lets an attacker go from ${percent(document.prior)} to at most ${percent(solved.posterior, 'up')}, ties included${except}.`,
          solved.epsilon <= document.policyEpsilon
            ? `The policy's budget of ${figure(document.policyEpsilon)} allows it.`
            : `The policy's budget is ${figure(document.policyEpsilon)}: this would need a larger one.`,
          '',
        ]
      : []),
    table(
      ['epsilon', `error (${percent(document.confidence)})`, `${percent(document.prior)} becomes at most`],
      shown.map((r) => [
        `${figure(r.epsilon)}${solved && r === solved ? ' <' : ''}`,
        Number.isFinite(r.error) ? `± ${figure(r.error)}` : 'none possible',
        percent(r.posterior, 'up'),
      ]),
    ),
    ...(words.chart ? ['', dim(`Chart written to ${words.chart}`)] : []),
  ].join('\n');
}

function writeChart(
  file: string,
  menu: readonly TradeOff[],
  solved: TradeOff | undefined,
  prior: Rational,
  confidence: number,
): void {
  const points = menu.filter((m) => Number.isFinite(m.error) && m.error > 0).map((m) => ({ x: m.posterior, y: m.error }));
  if (points.length === 0)
    throw new Fault(
      'BUDGET_INVALID',
      'There is nothing to draw: no budget reaches any error.',
      'Declare weaker ties or ask for less.',
    );
  const chart = lineChart({
    series: [
      { name: 'this workload', points },
      ...(solved ? [{ name: 'your target', points: [{ x: solved.posterior, y: solved.error }] }] : []),
    ],
    xLabel: `what ${percent(toNumber(prior))} may become`,
    yLabel: `error (${percent(confidence)})`,
    label: 'Error of the answers against what an attacker can come to believe',
    logY: true,
    xDomain: [toNumber(prior), 1],
    width: 640,
    height: 380,
  });
  writeWhole(file, standalone(chart), { hint: 'Give --chart a path in a folder you may write to.' });
}
