import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { refuseUnwritable } from '../../base/files/write-file.js';
import type { Network } from '../../privacy/dependence/model/network.js';
import type { Receipt } from '../../release/session/receipt.js';
import { numberText } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { registerDomainCommands } from './learn-domain.js';
import { registerTiesCommand } from './learn-ties.js';
import { registerTransitionsCommand } from './learn-transitions.js';
import { useText } from './learned-text.js';
import { learnColumnsOptions } from './option-tables.js';
import { emit, progressBar, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { addOptions, type OptionWords, type ValuesOf, valuesOf } from './request-options.js';
import { withSession } from './session.js';

type Values = ValuesOf<typeof learnColumnsOptions>;

export function registerLearnCommand(program: Command): void {
  const learn =
    program.commands.find((c) => c.name() === 'learn') ??
    program.command('learn').description('estimate a model of how values go together');
  const columns = learn
    .command('columns')
    .description('how the answers of one person go together: a tree, exact networks in chunks, or what the pairwise bound needs')
    .argument('<policy>', 'policy file');
  addOptions(columns, learnColumnsOptions).action(learnColumns);
  registerTiesCommand(learn);
  registerTransitionsCommand(learn);
  registerDomainCommands(learn);
}

async function learnColumns(file: string, words: OptionWords): Promise<void> {
  const values = await valuesOf(learnColumnsOptions, words);
  const { out, epsilon, fresh, chunk, maxParents, least, pairwise } = values;
  if (epsilon !== undefined && (values.public || chunk !== undefined))
    throw new Fault(
      'USAGE',
      'A paid model is a tree over all columns, or the number the pairwise bound needs.',
      'Leave out --chunk and --public, or leave out --epsilon (unpaid, marked in the file).',
    );
  const paidPairwise = pairwise === true && epsilon !== undefined;
  if (paidPairwise !== (least !== undefined))
    throw new Fault(
      'USAGE',
      paidPairwise
        ? 'Say how many people must have given an answer for it to be covered.'
        : '--least goes with --pairwise and --epsilon.',
      'For 3,000 respondents write --least 150: a public number, five percent of them.',
    );
  refuseUnwritable(out, { hint: 'Choose another --out.' });
  if (epsilon !== undefined) outcomes.arise();
  if (paidPairwise) return payPairwise(file, values, least!);
  if (pairwise) return learnPairwise(file, values);
  const { learnNetwork, writeNetwork } = await import('../api/learn.js');
  if (epsilon === undefined) {
    const options = { chunk, maxParents, public: values.public, progress: progressBar('learning') };
    return printNetwork(values, await learnNetwork(file, { out, ...options }));
  }
  const { result, receipt } = await withSession(file, spendingDecision(values), (fugu) =>
    fugu.release({ network: true, progress: progressBar('learning') }, { epsilon, fresh }),
  );
  writeNetwork(out, result);
  printNetwork(values, result, receipt);
}

function printNetwork({ out, json }: Values, network: Network, receipt?: Receipt): void {
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

async function learnPairwise(file: string, values: Values): Promise<void> {
  const { out, confidence = 0.95, pool, json } = values;
  const options = { confidence, pool, public: values.public, progress: progressBar('attacking') };
  const { learnSpread } = await import('../api/learn.js');
  const { spread, origin, epsilon, attack, noiseOverComposition } = await learnSpread(file, { out, ...options });
  emit(json, { written: out, origin, columns: spread.columns, confidence, noiseOverComposition, attack }, () =>
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

async function payPairwise(file: string, values: Values, least: number): Promise<void> {
  const { out, epsilon, fresh, confidence = 0.95, json } = values;
  const { noiseRatio, writeLearnedSpread } = await import('../api/learn.js');
  const { result, receipt } = await withSession(file, spendingDecision(values), (fugu) =>
    fugu.release({ spread: { least, confidence } }, { epsilon, fresh }),
  );
  const { spread } = result;
  const origin = { kind: 'paid' } as const;
  writeLearnedSpread(out, { ...result, origin });
  const noise = [0.1, 1].map((epsilon) => ({ epsilon, noise: noiseRatio(spread, epsilon) }));
  const { columns } = spread;
  emit(json, { written: out, origin, columns, confidence, least, noiseOverComposition: noise, receipt }, () =>
    [
      `Wrote ${out}: pairwise bound for ${columns} columns, ${100 * confidence} % over the sample and the noise.`,
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
