import type { Command } from 'commander';
import { Fault } from '../errors.js';
import { isPositive, parseRational, type Rational, toNumber } from '../exact/rational.js';
import { chooseCandidate, patternCandidates, publicDegree } from '../pattern/candidates.js';
import { analysePattern, type PatternAnalysis, schemaFromText } from '../pattern/query/analyse.js';
import { boundedAdversary, coin, domainSize, largestMarginal } from '../pattern/query/lambda.js';
import { clusteringParts, isClusteringCoefficient } from '../pattern/query/shortcut.js';
import { bold, dim, emit, figure, good, table, warn } from './output.js';

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

export function register(program: Command): void {
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

function show(query: string, options: Options): void {
  const texts = isClusteringCoefficient(query) ? clusteringParts : [query];
  const documents = texts.map((text) => describe(text, options, texts.length));
  const [first] = documents;
  emit(
    options.json,
    texts.length === 1
      ? first!.document
      : { query, parts: documents.map((d) => d.document), note: '3 triangles / 2-paths; the two counts share epsilon' },
    () => documents.map((d) => d.human()).join('\n\n'),
  );
}

function describe(text: string, options: Options, shares: number) {
  const domain = wholeNumber(options.domain, 'domain', 2);
  const whole = positive(options.epsilon, 'epsilon');
  const epsilon = shares === 1 ? whole : { num: whole.num, den: whole.den * BigInt(shares) };
  const gamma = options.gamma === undefined ? undefined : positive(options.gamma, 'gamma');
  const delta = options.delta === undefined ? undefined : positive(options.delta, 'delta');
  if (options.log !== 'safe' && options.log !== 'natural')
    throw new Fault('USAGE', 'The logarithm is "safe" or "natural".', 'Leave --log out for the safe reading.');
  const schema = schemaFromText(text, domain, { symmetric: options.symmetric === true });
  const a = analysePattern(text, schema, { log: options.log, ...(options.occurrences && { occurrences: true }) });
  const degree = options.degree === undefined ? undefined : wholeNumber(options.degree, 'degree', 1);
  const together = options.together === undefined ? undefined : wholeNumber(options.together, 'together', 1);
  if (gamma && toNumber(coin(a.pattern.goals.length, domainSize(a.pattern), gamma)) >= 1)
    throw new Fault(
      'BUDGET_INVALID',
      `Gamma must be above goals / domain = ${figure(a.pattern.goals.length / domainSize(a.pattern))}.`,
      'Declare a larger gamma or a larger domain.',
    );
  const candidates = patternCandidates(a, {
    epsilon,
    ...(gamma && { gamma }),
    ...(delta && { delta }),
    ...(degree && { degree }),
    ...(options.absence && { absence: true }),
    ...(together && { together }),
  });
  const chosen = chooseCandidate(candidates);
  const document = {
    query: a.text,
    stable: a.stability.stable,
    dense: a.stability.dense,
    witness: a.stability.witness ?? null,
    density: a.stability.density ? toNumber(a.stability.density) : null,
    subgoals: a.pattern.goals.length,
    variables: a.pattern.variables.length,
    collapsed: a.pattern.collapsed,
    unit: a.unit,
    automorphisms: a.automorphisms.count,
    lambda: a.lambda.shown,
    globalSensitivity: Number(a.bounds.globalSensitivity),
    largestAnswer: Number(a.bounds.most),
    adversary: { ...boundedAdversary(domain), largestMarginal: largestMarginal(domain, a.stability.density) },
    assumedDegree: publicDegree(a, degree),
    candidates,
    chosen: chosen.mechanism,
  };
  return { document, human: () => humanForm(a, candidates, chosen.mechanism) };
}

function humanForm(a: PatternAnalysis, candidates: ReturnType<typeof patternCandidates>, chosen: string): string {
  const verdict = a.stability.stable ? good('stable') : warn('not stable');
  const lines = [
    bold(a.text),
    `${verdict}${a.stability.witness ? `: ${a.stability.witness}` : ''}`,
    `${a.pattern.goals.length} goals, ${a.pattern.variables.length} variables; one tuple moves the answer (${a.unit}) by at most ${figure(Number(a.bounds.globalSensitivity))}; lambda ${figure(a.lambda.shown)}`,
    '',
    table(
      ['', 'mechanism', 'scale', 'expected error', 'guarantee', ''],
      candidates.map((c) => [
        c.mechanism === chosen ? '>' : '',
        c.mechanism,
        figure(c.scale),
        figure(c.expectedError),
        c.guarantee,
        c.note ?? '',
      ]),
    ),
    dim('Expected errors of mechanisms that follow the data are for the stated degree; the choice never looks at the data.'),
  ];
  return lines.join('\n');
}

const positive = (text: string, what: string): Rational => {
  const value = parseRational(text, what);
  if (!isPositive(value)) throw new Fault('BUDGET_INVALID', `The ${what} must be positive.`, 'Write for example 0.5.');
  return value;
};
function wholeNumber(text: string, what: string, least: number): number {
  const value = /^\d+(e\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(Number.isSafeInteger(value) && value >= least))
    throw new Fault('USAGE', `The ${what} must be a whole number of at least ${least}.`, `Write for example --${what} 10000.`);
  return value;
}
