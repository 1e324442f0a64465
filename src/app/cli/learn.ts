import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { refuseUnwritable } from '../../base/files/write-file.js';
import type { Network } from '../../privacy/dependence/model/network.js';
import type { Receipt } from '../../release/session/receipt.js';
import { largestChunk } from '../api/learn-defaults.js';
import { numberText } from '../report/terminal-text.js';
import { acceptOption, newBudgetOption, spendingDecision, yesOption } from './confirm-spending.js';
import { registerDomainCommands } from './learn-domain.js';
import { registerTiesCommand } from './learn-ties.js';
import { registerTransitionsCommand } from './learn-transitions.js';
import { useText } from './learned-text.js';
import { emit, progressBar, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { withSession } from './session.js';

interface LearnWords {
  readonly out: string;
  readonly epsilon?: string;
  readonly fresh?: boolean;
  readonly chunk?: string;
  readonly maxParents?: string;
  readonly pairwise?: boolean;
  readonly least?: string;
  readonly confidence: string;
  readonly pool: string;
  readonly public?: boolean;
  readonly yes?: boolean;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
  readonly json?: boolean;
}

export function registerLearnCommand(program: Command): void {
  const learn =
    program.commands.find((c) => c.name() === 'learn') ??
    program.command('learn').description('estimate a model of how values go together');
  learn
    .command('columns')
    .description('how the answers of one person go together: a tree, exact networks in chunks, or what the pairwise bound needs')
    .argument('<policy>', 'policy file')
    .requiredOption('--out <file>', 'where to write it: .json, or .bif for a network')
    .option('--epsilon <part>', "pay for it with this part of the policy's epsilon; without it the file is marked unpaid")
    .option('--chunk <k>', `unpaid: exact networks of at most k columns (up to ${largestChunk}) instead of one forest`)
    .option('--max-parents <m>', 'with --chunk: at most m parents each')
    .option('--pairwise', 'only what the pairwise bound needs: three numbers, or one when paid for')
    .option('--pool <share>', 'with --pairwise, unpaid: answers rarer than this are one secret together', '0.05')
    .option(
      '--least <rows>',
      'with --pairwise, paid: answers that at least this many people gave are covered (5 % of them is usual)',
    )
    .option('--confidence <c>', 'with --pairwise: probability over the sample', '0.95')
    .option('--fresh', 'with --epsilon: learn from the data as it is now and pay, also when a result is recorded')
    .option('--public', 'the rows are public already (an earlier wave): mark the file so')
    .option(...yesOption)
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option('--json', 'one JSON document on stdout')
    .action(learnColumns);
  registerTiesCommand(learn);
  registerTransitionsCommand(learn);
  registerDomainCommands(learn);
}

const whole = (text: string | undefined, what: string, most: number): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Fault('USAGE', `${what} must be a whole number from 1 to ${most}.`, 'For example --chunk 10.');
  return value;
};

async function learnColumns(file: string, words: LearnWords): Promise<void> {
  const chunk = whole(words.chunk, '--chunk', largestChunk);
  const maxParents = whole(words.maxParents, '--max-parents', largestChunk);
  const confidence = Number(words.confidence);
  if (!(confidence > 0 && confidence < 1)) throw new Fault('USAGE', '--confidence must lie between 0 and 1.', 'Write 0.95.');
  const pool = Number(words.pool);
  if (!(pool >= 0 && pool < 0.5)) throw new Fault('USAGE', '--pool must be a share from 0 to below 0.5.', 'Write 0.05.');
  if (words.epsilon !== undefined && (words.public || chunk !== undefined))
    throw new Fault(
      'USAGE',
      'A paid model is a tree over all columns, or the number the pairwise bound needs.',
      'Leave out --chunk and --public, or leave out --epsilon (unpaid, marked in the file).',
    );
  const paidPairwise = words.pairwise === true && words.epsilon !== undefined;
  const least = whole(words.least, '--least', 1e9);
  if (paidPairwise !== (least !== undefined))
    throw new Fault(
      'USAGE',
      paidPairwise
        ? 'Say how many people must have given an answer for it to be covered.'
        : '--least goes with --pairwise and --epsilon.',
      'For 3,000 respondents write --least 150: a public number, five percent of them.',
    );
  refuseUnwritable(words.out, { hint: 'Choose another --out.' });
  if (words.epsilon !== undefined) outcomes.arise();
  if (paidPairwise) return payPairwise(file, words, confidence, least!);
  if (words.pairwise) return learnPairwise(file, words, confidence, pool);
  const { out, epsilon, fresh } = words;
  const { learnNetwork, writeNetwork } = await import('../api/learn.js');
  if (epsilon === undefined) {
    const options = { chunk, maxParents, public: words.public, progress: progressBar('learning') };
    return printNetwork(words, await learnNetwork(file, { out, ...options }));
  }
  const { result, receipt } = await withSession(file, spendingDecision(words), (fugu) =>
    fugu.release({ network: true, progress: progressBar('learning') }, { epsilon, fresh }),
  );
  writeNetwork(out, result);
  printNetwork(words, result, receipt);
}

function printNetwork({ out, json }: LearnWords, network: Network, receipt?: Receipt): void {
  const paid = receipt && { entry: receipt.ledger.entry, at: receipt.at, replayed: receipt.ledger.replayed };
  const edges = network.variables.reduce((sum, v) => sum + v.parents.length, 0);
  const document = { written: out, columns: network.variables.length, edges, origin: network.origin };
  emit(json, { ...document, ...(receipt && { ledger: paid, receipt }) }, () =>
    [
      `Wrote ${out}: ${network.variables.length} columns, ${edges} edges.`,
      useText(network.origin!.learned),
      ...(paid?.replayed ? [recordedText(paid.at, paid.entry)] : []),
      'A learned network describes the sample. It lowers no noise unless you declare it, and then whatever it misses is unprotected.',
    ].join('\n'),
  );
}

async function learnPairwise(file: string, words: LearnWords, confidence: number, pool: number): Promise<void> {
  const { out } = words;
  const options = { confidence, pool, public: words.public, progress: progressBar('attacking') };
  const { learnSpread } = await import('../api/learn.js');
  const { spread, origin, epsilon, attack, noiseOverComposition } = await learnSpread(file, { out, ...options });
  emit(words.json, { written: out, origin, columns: spread.columns, confidence, noiseOverComposition, attack }, () =>
    [
      `Wrote ${out}: pairwise bound for ${spread.columns} columns, ${100 * confidence} % over the sample.`,
      `At epsilon ${epsilon} a histogram of every column needs ${numberText(noiseOverComposition)} of the noise of composition (one answer, uninformed attacker).`,
      ...(attack
        ? [
            `The strongest attack found on these rows reaches ${numberText(attack.inSample)} of epsilon in sample, ${numberText(attack.heldOut)} held out.`,
          ]
        : []),
      useText(origin.kind),
    ].join('\n'),
  );
}

async function payPairwise(file: string, words: LearnWords, confidence: number, least: number): Promise<void> {
  const { epsilon, fresh } = words;
  const { noiseRatio, writeLearnedSpread } = await import('../api/learn.js');
  const { result, receipt } = await withSession(file, spendingDecision(words), (fugu) =>
    fugu.release({ spread: { least, confidence } }, { epsilon, fresh }),
  );
  const { spread } = result;
  const origin = { kind: 'paid' } as const;
  writeLearnedSpread(words.out, { ...result, origin });
  const noise = [0.1, 1].map((epsilon) => ({ epsilon, noise: noiseRatio(spread, epsilon) }));
  const { columns } = spread;
  emit(words.json, { written: words.out, origin, columns, confidence, least, noiseOverComposition: noise, receipt }, () =>
    [
      `Wrote ${words.out}: pairwise bound for ${columns} columns, ${100 * confidence} % over the sample and the noise.`,
      ...noise.map(
        (n) => `At epsilon ${n.epsilon} a histogram of every column needs ${numberText(n.noise)} of the noise of composition.`,
      ),
      `Answers that fewer than ${least} people gave are protected by composition only.`,
      useText('paid'),
      ...(receipt.ledger.replayed ? [recordedText(receipt.at, receipt.ledger.entry)] : []),
      'It serves other people: this population is bound to the dependence its account was opened with.',
    ].join('\n'),
  );
}
