import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { within } from '../../base/input/limits.js';
import type { Leakage } from '../api/leakage-figures.js';
import { bold, dim, numberText, table } from '../report/terminal-text.js';
import { modelArgument } from './model-argument.js';
import { emit } from './output.js';

interface LeakOptions {
  readonly base?: string;
  readonly profile?: string;
  readonly epsilon?: string;
  readonly adversary: string;
  readonly json?: boolean;
}

export function registerLeakCommand(program: Command): void {
  program
    .command('leak')
    .description(
      'what an attacker who knows the ties gains about each record, or the largest base budget that keeps it within epsilon',
    )
    .argument('<model>', modelArgument)
    .option('--base <epsilon>', 'every record spends this base epsilon')
    .option('--profile <list>', 'base epsilon per record, comma separated, in the order of the model file')
    .option('--epsilon <epsilon>', 'find the largest common base with worst leakage at most this')
    .option('--adversary <kind>', 'informed (may know other records) or uninformed', 'informed')
    .option('--json', 'one JSON document on stdout')
    .action(async (file: string, words: LeakOptions) => {
      const request = optionsFrom(words);
      const { leakageInFile } = await import('../api/leakage-figures.js');
      const found = await leakageInFile(file, request);
      emit(words.json, found, () => human(found));
    });
}

function optionsFrom({ base, profile, epsilon, adversary }: LeakOptions) {
  if (adversary !== 'informed' && adversary !== 'uninformed')
    throw new Fault('USAGE', 'The adversary is informed or uninformed.', 'Write --adversary informed, or leave it out.');
  if ([base, profile, epsilon].filter((x) => x !== undefined).length !== 1)
    throw new Fault(
      'USAGE',
      'Give exactly one of --base, --profile and --epsilon.',
      'For example: fugu leak model.json --base 0.1',
    );
  const entries = profile?.split(',');
  within('numbers', entries?.length ?? 0);
  return { base, profile: entries, epsilon, adversary } as const;
}

/** Most records listed; longer lists need --json. */
const shown = 20;

function human(d: Leakage): string {
  const all = Object.entries(d.leakage).sort((a, b) => b[1] - a[1]);
  const lines = [
    ...(d.epsilon === undefined
      ? []
      : [
          bold(`Every record may spend a base epsilon of ${numberText(d.base!)}`),
          `so that nobody gains more than ${numberText(d.epsilon)} about any record; the ties cost a factor of ${numberText(d.amplification!)}.`,
          '',
        ]),
    table(
      ['record', 'leakage'],
      all.slice(0, shown).map(([id, leak]) => [id, numberText(leak)]),
    ),
    ...(all.length > shown ? [dim(`… and ${all.length - shown} more (--json lists all)`)] : []),
    '',
    `worst: ${d.worst.record} at ${numberText(d.worst.leakage)}; group privacy would say ${numberText(d.group)}; adversary ${d.adversary}; a proven bound, rounded up.`,
    dim(d.how),
    ...(d.whatIf
      ? [
          `If the odds ratios were twice as large: ${numberText(d.whatIf.oddsTimes2)}; four times: ${numberText(d.whatIf.oddsTimes4)}; with one more tie per record: ${numberText(d.whatIf.oneMoreTie)}.`,
        ]
      : []),
    ...(d.hubs
      ? [
          `Effects need not die out: ${d.hubs.map((h) => `${h.record} (${h.ties} ties)`).join(', ')} pass on more than they receive.`,
        ]
      : []),
  ];
  return lines.join('\n');
}
