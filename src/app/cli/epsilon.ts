import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { writeWhole } from '../../base/files/write-file.js';
import type { Accuracy, AccuracyQuestion } from '../api/least-epsilon.js';
import { readJson } from '../api/named-text.js';
import { percentText } from '../report/number.js';
import { bold, dim, numberText, table, warn } from '../report/terminal-text.js';
import { refuseUnreadOptions } from './options.js';
import { emit } from './output.js';

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

export function registerEpsilonCommand(program: Command): void {
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
    .action((policy: string | undefined, words: Words, command: Command) => {
      if (policy !== undefined) {
        refuseUnreadOptions(
          command,
          ofAccuracy,
          'With a policy its own budget counts: --query, --sql or --survey, --error, --prior.',
        );
        return fromAccuracy(policy, words);
      }
      const policyFirst = 'It goes with a policy: fugu epsilon POLICY --query Q --error 50 --chart FILE.';
      refuseUnreadOptions(command, words.epsilon === undefined ? ofBelief : ofEpsilon, policyFirst);
      return words.epsilon === undefined ? fromBelief(words) : intoBelief(words);
    });
}

/** Options that each use of the command reads. */
const ofAccuracy = ['query', 'sql', 'survey', 'error', 'confidence', 'rows', 'prior', 'chart', 'json'];
const ofEpsilon = ['epsilon', 'delta', 'prior', 'json'];
const ofBelief = ['posterior', 'prior', 'among', 'delta', 'json'];

async function fromBelief({ posterior, prior, among, delta, json }: Words): Promise<void> {
  if (posterior === undefined || (prior === undefined) === (among === undefined))
    throw new Fault(
      'USAGE',
      'Say what an attacker may believe before and after.',
      'For example: fugu epsilon --prior 0.1 --posterior 0.3; or --among 50 --posterior 0.3; or the reverse: --epsilon 1; or POLICY --query Q --error 50.',
    );
  const { solveBeliefBudget } = await import('../api/belief-figures.js');
  const { sentences, ...budget } = solveBeliefBudget({ posterior, prior, among, delta });
  emit(json, budget, () =>
    [
      `${bold(`epsilon ${numberText(budget.epsilon)}`)}  ${dim(`(odds may move by a factor of ${numberText(budget.oddsFactor)}, up or down)`)}`,
      '',
      ...sentences,
      '',
      dim(
        `In a policy:  budget: { belief: { prior: ${prior ?? `1/${among}`}, posterior: ${posterior} }${budget.delta > 0 ? `, delta: ${budget.delta}` : ''} }`,
      ),
    ].join('\n'),
  );
}

async function intoBelief({ epsilon, delta, prior, json }: Words): Promise<void> {
  const { beliefUnderBudget } = await import('../api/belief-figures.js');
  const { sentence, ...found } = beliefUnderBudget({ epsilon: epsilon!, delta, priors: prior?.split(',') });
  emit(json, found, () =>
    [
      `${bold(`epsilon ${numberText(found.epsilon)}`)}: the odds of anything about one person move by a factor of at most ${Number.isFinite(found.oddsFactor) ? numberText(found.oddsFactor) : `e^${numberText(found.epsilon)}`}, up or down${found.delta > 0 ? `, except with probability ${found.delta}` : ''}.`,
      '',
      table(
        ['believed before', 'at most after', 'at least after'],
        found.beliefs.map((r) => [percentText(r.prior), percentText(r.posterior, 'up'), percentText(r.atLeast, 'down')]),
      ),
      '',
      sentence,
    ].join('\n'),
  );
}

async function fromAccuracy(file: string, words: Words): Promise<void> {
  const { query, sql, survey, error, confidence, rows, prior, chart } = words;
  if ([query, sql, survey].filter((w) => w !== undefined).length !== 1)
    throw new Fault('USAGE', 'Give the questions in exactly one way.', 'Use one of --query JSON, --sql TEXT or --survey.');
  const named = query === undefined ? { sql } : readJson(query);
  const question = (survey ? { survey: true } : named) as AccuracyQuestion;
  const { leastEpsilon } = await import('../api/least-epsilon.js');
  const found = await leastEpsilon(file, { question, error, confidence, rows, prior });
  const solved = isSolved(found) ? found : undefined;
  if (chart !== undefined) await writeChart(chart, found, solved);
  emit(words.json, found, () => accuracyText(found, solved, words));
}

type Menu = Accuracy['tradeOff'][number];
const isSolved = (found: Accuracy): found is Accuracy & Menu => found.epsilon !== undefined;

function accuracyText(document: Accuracy, solved: Menu | undefined, words: Words): string {
  const except = document.delta > 0 ? ` (except with probability ${document.delta})` : '';
  const shown: readonly Menu[] = [...document.tradeOff, ...(solved ? [solved] : [])].sort((a, b) => a.epsilon - b.epsilon);
  return [
    ...(document.warnings ?? []).map((text) => warn(`Warning: ${text}`)),
    ...(solved
      ? [
          `${bold(`epsilon ${numberText(solved.epsilon)}`)} reaches an error of ± ${numberText(solved.error)} (${percentText(document.confidence)} confidence), all of it spent on this.`,
          `It lets an attacker go from ${percentText(document.prior)} to at most ${percentText(solved.posterior, 'up')}, ties included${except}.`,
          solved.epsilon <= document.policyEpsilon
            ? `The policy's budget of ${numberText(document.policyEpsilon)} allows it.`
            : `The policy's budget is ${numberText(document.policyEpsilon)}: this would need a larger one.`,
          '',
        ]
      : []),
    table(
      ['epsilon', `error (${percentText(document.confidence)})`, `${percentText(document.prior)} becomes at most`],
      shown.map((r) => [
        `${numberText(r.epsilon)}${solved && r === solved ? ' <' : ''}`,
        Number.isFinite(r.error) ? `± ${numberText(r.error)}` : 'none possible',
        percentText(r.posterior, 'up'),
      ]),
    ),
    ...(words.chart ? ['', dim(`Chart written to ${words.chart}`)] : []),
  ].join('\n');
}

async function writeChart(file: string, { tradeOff, prior, confidence }: Accuracy, solved: Menu | undefined): Promise<void> {
  const points = tradeOff.filter((m) => Number.isFinite(m.error) && m.error > 0).map((m) => ({ x: m.posterior, y: m.error }));
  if (points.length === 0)
    throw new Fault(
      'BUDGET_INVALID',
      'There is nothing to draw: no budget reaches any error.',
      'Declare weaker ties or ask for less.',
    );
  const { lineChart } = await import('../report/line-chart.js');
  const { standalone } = await import('../report/svg.js');
  const chart = lineChart({
    series: [
      { name: 'this workload', points },
      ...(solved ? [{ name: 'your target', points: [{ x: solved.posterior, y: solved.error }] }] : []),
    ],
    xLabel: `what ${percentText(prior)} may become`,
    yLabel: `error (${percentText(confidence)})`,
    label: 'Error of the answers against what an attacker can come to believe',
    logY: true,
    xDomain: [prior, 1],
    width: 640,
    height: 380,
  });
  writeWhole(file, standalone(chart), { hint: 'Give --chart a path in a folder you may write to.' });
}
