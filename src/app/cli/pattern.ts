import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { AnalysedPattern } from '../api/pattern.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { emit } from './output.js';

interface Options {
  readonly domain: string;
  readonly epsilon: string;
  readonly gamma?: string;
  readonly delta?: string;
  readonly degree?: string;
  readonly log: string;
  readonly absence?: boolean;
  readonly together?: string;
  readonly symmetric?: boolean;
  readonly occurrences?: boolean;
  readonly json?: boolean;
}

export function registerPatternCommand(program: Command): void {
  program
    .command('pattern')
    .description('a join or graph pattern: is it stable, how far can one tuple move it, which noise is least (reads no data)')
    .argument(
      '<query>',
      "q(x,y,z) :- friend(x,y), friend(y,z), friend(z,x), all_distinct(x,y,z); or triangles, 3-stars, 4-cliques, 2-paths from 'v', …",
    )
    .requiredOption('--domain <m>', 'public size of the domain the values come from')
    .requiredOption('--epsilon <e>', 'what one tuple may cost')
    .option('--gamma <g>', 'accept (epsilon, gamma)-adversarial privacy')
    .option('--delta <d>', 'also show (epsilon, delta) mechanisms, for comparison')
    .option('--degree <n>', 'public guess of the most ties anybody has; affects expected errors only')
    .option('--log <reading>', 'logarithm of lambda: safe (base 2, rounded up) or natural', 'safe')
    .option('--absence', 'Algorithm 2.1: protect absent tuples, too')
    .option('--together <k>', 'Algorithm 2.1: tuples may be positively correlated with k - 1 others')
    .option('--symmetric', 'relations are undirected')
    .option('--occurrences', 'count each occurrence once, not once per symmetry')
    .option('--json', 'one JSON document')
    .action((query: string, options: Options) => show(query, options));
}

async function show(query: string, options: Options): Promise<void> {
  const { log, json, epsilon, gamma, delta, absence, symmetric, occurrences } = options;
  const domain = wholeNumber(options.domain, 'domain', 2);
  if (log !== 'safe' && log !== 'natural')
    throw new Fault('USAGE', 'The logarithm is "safe" or "natural".', 'Leave --log out for the safe reading.');
  const degree = options.degree === undefined ? undefined : wholeNumber(options.degree, 'degree', 1);
  const together = options.together === undefined ? undefined : wholeNumber(options.together, 'together', 1);
  const request = {
    domain,
    epsilon,
    gamma,
    delta,
    degree,
    log: log as 'safe' | 'natural',
    absence,
    together,
    symmetric,
    occurrences,
  };
  const { analysePattern } = await import('../api/pattern.js');
  const found = await analysePattern(query, request);
  emit(
    json,
    found.length === 1 ? found[0] : { query, parts: found, note: '3 triangles / 2-paths; the two counts share epsilon' },
    () => found.map(humanForm).join('\n\n'),
  );
}

function humanForm(a: AnalysedPattern): string {
  const lines = [
    bold(a.query),
    `${a.stable ? good('stable') : warn('not stable')}${a.witness ? `: ${a.witness}` : ''}`,
    `${a.subgoals} goals, ${a.variables} variables; one tuple moves the answer (${a.unit}) by at most ${numberText(a.globalSensitivity)}; lambda ${numberText(a.lambda)}`,
    '',
    table(
      ['', 'mechanism', 'scale', 'expected error', 'guarantee', ''],
      a.candidates.map((c) => [
        c.mechanism === a.chosen ? '>' : '',
        c.mechanism,
        numberText(c.scale),
        numberText(c.expectedError),
        c.guarantee,
        c.note ?? '',
      ]),
    ),
    dim('Expected errors of mechanisms that follow the data are for the stated degree; the choice never looks at the data.'),
  ];
  return lines.join('\n');
}

function wholeNumber(text: string, what: string, least: number): number {
  const value = /^\d+(e\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(Number.isSafeInteger(value) && value >= least))
    throw new Fault('USAGE', `The ${what} must be a whole number of at least ${least}.`, `Write for example --${what} 10000.`);
  return value;
}
