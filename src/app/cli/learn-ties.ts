import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { LearnedOdds } from '../api/odds.js';
import { bold, numberText, warn } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { makeAffinityTiesFile, makeDistanceTiesFile } from './make-ties.js';
import { learnTiesOptions } from './option-tables.js';
import { emit, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, type ValuesOf, valuesOf } from './request-options.js';
import { withSession } from './session.js';
import { asTyped } from './typed.js';

type Values = ValuesOf<typeof learnTiesOptions>;

export function registerTiesCommand(learn: Command): void {
  const command = learn
    .command('ties')
    .description('how strongly tied records depend on each other; or who is tied, from public coordinates or attributes')
    .argument('[policy]', 'policy file: estimate from the protected table, paid for');
  addOptions(command, learnTiesOptions).action(run);
}

async function run(policy: string | undefined, words: OptionWords): Promise<void> {
  const values = await valuesOf(learnTiesOptions, words);
  const origins = [policy, values.public, values.distance, values.affinity].filter((x) => x !== undefined);
  if (origins.length !== 1)
    throw new Fault(
      'USAGE',
      'Say what to learn from: one of POLICY, --public, --distance or --affinity.',
      'For example: fugu learn ties --public pairs.csv --column party',
    );
  if (values.distance !== undefined) return makeDistanceTiesFile(values.distance, values);
  if (values.affinity !== undefined) return makeAffinityTiesFile(values.affinity, values);
  return policy === undefined ? fromPublic(values.public!, values) : fromPolicy(policy, values);
}

async function fromPublic(file: string, values: Values): Promise<void> {
  const { column, directed, confidence, pool, json } = values;
  const { learnOdds } = await import('../api/odds.js');
  const found = await learnOdds(file, { directed, confidence, pool });
  emit(json, { ...found, ...(column !== undefined && { column }), origin: 'public' }, () =>
    sentences(found, column, 'Learned from public pairs: it cost nothing and may be published.').join('\n'),
  );
}

async function fromPolicy(file: string, values: Values): Promise<void> {
  const { relation, column, epsilon, fresh, pairsEach, confidence, pool, json } = values;
  if (relation === undefined || column === undefined || epsilon === undefined)
    throw new Fault(
      'USAGE',
      'With a policy, say --relation, --column and --epsilon.',
      'For example: fugu learn ties policy.yaml --relation friend --column party --epsilon 0.2',
    );
  outcomes.arise();
  const { result, receipt } = await withSession(file, spendingDecision(values), (fugu) =>
    fugu.release({ odds: { relation, column, pairsEach, confidence, pool } }, { epsilon, fresh }),
  );
  const { noiseScale, ...found } = result;
  emit(json, { ...found, relation, column, origin: 'paid', noiseScale, receipt }, () =>
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
