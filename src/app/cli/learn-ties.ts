import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { friendLaw } from '../api/learn-defaults.js';
import type { LearnedOdds } from '../api/odds.js';
import { bold, numberText, warn } from '../report/terminal-text.js';
import { acceptOption, newBudgetOption, spendingDecision, yesOption } from './confirm-spending.js';
import { type MakeTiesOptions, makeAffinityTiesFile, makeDistanceTiesFile } from './make-ties.js';
import { emit, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { withSession } from './session.js';
import { asTyped } from './typed.js';

interface Words extends MakeTiesOptions {
  readonly public?: string;
  readonly directed?: boolean;
  readonly relation?: string;
  readonly column?: string;
  readonly epsilon?: string;
  readonly fresh?: boolean;
  readonly pairsEach: string;
  readonly confidence: string;
  readonly pool: string;
  readonly yes?: boolean;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
}

export function registerTiesCommand(learn: Command): void {
  learn
    .command('ties')
    .description('how strongly tied records depend on each other; or who is tied, from public coordinates or attributes')
    .argument('[policy]', 'policy file: estimate from the protected table, paid for')
    .option('--relation <name>', 'whose ties (with a policy)')
    .option('--column <name>', 'which column the tie is about')
    .option('--epsilon <part>', "what to pay, as a part of the policy's epsilon")
    .option('--fresh', 'with a policy: ask the data as it is now and pay, also when a result is recorded')
    .option('--pairs-each <n>', 'with a policy: count every record in at most n pairs', '1')
    .option('--public <pairs>', 'estimate from a public CSV: its first two columns are the values of two tied people')
    .option('--directed', 'with --public: the two ends differ (parent and child)')
    .option('--confidence <c>', 'of the interval', '0.95')
    .option('--pool <share>', 'values rarer than this are taken as one', '0.05')
    .option('--distance <coords>', 'make ties from a public CSV id,x,y (or id,lat,lon): they fade with distance')
    .option('--radius <r>', 'with --distance: everybody is publicly known to be within r of their point')
    .option('--unit <unit>', 'with --distance: miles, km or degrees', 'miles')
    .option('--b <miles>', 'with --distance: (distance + b)^-c', `${friendLaw.b}`)
    .option('--c <power>', 'with --distance: (distance + b)^-c', `${friendLaw.c}`)
    .option('--least <ratio>', 'with --distance: leave out pairs with a smaller odds ratio', '1.05')
    .option('--pairs <file>', 'with --distance: only these pairs (first two columns)')
    .option('--affinity <attributes>', 'make ties from a public CSV id,attribute,...: people alike')
    .option('--threshold <t>', 'with --affinity: alike means more than this', '0.8')
    .option('--norm <norm>', 'with --affinity: cosine or l1', 'cosine')
    .option('--centre', 'with --affinity: numbers as distances from their mean')
    .option('--odds-ratio <r>', 'with --affinity: the strength to write beside every tie')
    .option('--out <file>', 'where to write the ties made')
    .option(...yesOption)
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option('--json', 'one JSON document on stdout')
    .action(run);
}

async function run(policy: string | undefined, words: Words): Promise<void> {
  const origins = [policy, words.public, words.distance, words.affinity].filter((x) => x !== undefined);
  if (origins.length !== 1)
    throw new Fault(
      'USAGE',
      'Say what to learn from: one of POLICY, --public, --distance or --affinity.',
      'For example: fugu learn ties --public pairs.csv --column party',
    );
  if (words.distance !== undefined) return makeDistanceTiesFile(words.distance, words);
  if (words.affinity !== undefined) return makeAffinityTiesFile(words.affinity, words);
  const confidence = share(words.confidence, '--confidence', 1);
  const pool = share(words.pool, '--pool', 0.5);
  return policy === undefined ? fromPublic(words.public!, words, confidence, pool) : fromPolicy(policy, words, confidence, pool);
}

async function fromPublic(file: string, words: Words, confidence: number, pool: number): Promise<void> {
  const { column, directed } = words;
  const { learnOdds } = await import('../api/odds.js');
  const found = await learnOdds(file, { directed, confidence, pool });
  emit(words.json, { ...found, ...(column !== undefined && { column }), origin: 'public' }, () =>
    sentences(found, column, 'Learned from public pairs: it cost nothing and may be published.').join('\n'),
  );
}

async function fromPolicy(file: string, words: Words, confidence: number, pool: number): Promise<void> {
  const { relation, column, epsilon, fresh } = words;
  if (relation === undefined || column === undefined || epsilon === undefined)
    throw new Fault(
      'USAGE',
      'With a policy, say --relation, --column and --epsilon.',
      'For example: fugu learn ties policy.yaml --relation friend --column party --epsilon 0.2',
    );
  const pairsEach = Number(words.pairsEach);
  if (!Number.isInteger(pairsEach) || pairsEach < 1 || pairsEach > 1000)
    throw new Fault('USAGE', '--pairs-each must be a whole number from 1 to 1000.', 'Leave it out for 1.');
  outcomes.arise();
  const { result, receipt } = await withSession(file, spendingDecision(words), (fugu) =>
    fugu.release({ odds: { relation, column, pairsEach, confidence, pool } }, { epsilon, fresh }),
  );
  const { noiseScale, ...found } = result;
  emit(words.json, { ...found, relation, column, origin: 'paid', noiseScale, receipt }, () =>
    [
      ...sentences(
        found,
        column,
        `Learned from the protected table and paid for: epsilon ${numberText(receipt.epsilon)}, noise of scale ${numberText(noiseScale)} in every count.`,
      ),
      ...(receipt.ledger.replayed ? [recordedText(receipt.at, receipt.ledger.entry)] : []),
      asTyped('Declaring it changes the terms of the budget: edit the policy, then "fugu ledger POLICY amend --reason TEXT".'),
    ].join('\n'),
  );
}

function sentences(found: LearnedOdds, column: string | undefined, origin: string): string[] {
  const { oddsRatio, interval, confidence, between, pairs, unjudged, declare, restsOn, assumes, assumptionFree } = found;
  const [low, high] = interval;
  const about = column === undefined ? '' : ` in ${column}`;
  const open = !Number.isFinite(high);
  return [
    `${numberText(Math.max(0, pairs))} tied pairs${about}: the odds ratio is about ${numberText(oddsRatio)}, between ${numberText(low)} and ${numberText(high)} (${100 * confidence} %).`,
    `It is largest between ${between.mine.join(' and ')} against ${between.theirs.join(' and ')}.`,
    open
      ? warn('Too few pairs to bound it from above: take more pairs or a larger --pool, or declare inf.')
      : bold(`declare oddsRatio: ${declare}`),
    assumes,
    ...(restsOn === 'shared'
      ? [`Without that assumption these pairs bound it by ${numberText(assumptionFree.declare)} only (assumptionFree).`]
      : []),
    ...(unjudged.length > 0 ? [`Too rare to be judged, and left out: ${unjudged.join(', ')}.`] : []),
    origin,
    'This is what pairs show with everything else let free. What the policy needs is the effect of changing one value with everybody else fixed: see docs/how-to/ties.md.',
  ];
}

const share = (text: string, what: string, below: number): number => {
  const x = Number(text);
  if (text.trim() !== '' && x >= 0 && x < below && (below < 1 || x > 0)) return x;
  throw new Fault('USAGE', `${what} must be a share below ${below}.`, 'For example 0.05 or 0.95.');
};
