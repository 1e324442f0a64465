import type { Command } from 'commander';
import { hubs, largestBase, leakage, whatIf } from '../dependence/leakage.js';
import type { Model } from '../dependence/model/model.js';
import { Fault } from '../errors.js';
import { divUp } from '../exact/outward.js';
import { isPositive, parseRational, type Rational, toNumber, toNumberDown, toNumberUp } from '../exact/rational.js';
import { within } from '../input/limits.js';
import type { Adversary } from '../policy/policy.js';
import { bold, dim, emit, figure, table } from './output.js';
import { modelArgument, readModelFile } from './workbench.js';

interface LeakOptions {
  readonly base?: string;
  readonly profile?: string;
  readonly epsilon?: string;
  readonly adversary: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
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
    .action((file: string, options: LeakOptions) => {
      const document = leak(readModelFile(file), options);
      emit(options.json, document, () => human(document));
    });
}

interface LeakDocument {
  readonly adversary: Adversary;
  /** Exactly the double that was checked. */
  readonly base?: number;
  readonly amplification?: number;
  readonly epsilon?: number;
  readonly leakage: Readonly<Record<string, number>>;
  readonly worst: { readonly record: string; readonly leakage: number };
  readonly group: number;
  readonly certified: true;
  readonly how: string;
  readonly whatIf?: { readonly oddsTimes2: number; readonly oddsTimes4: number; readonly oneMoreTie: number };
  readonly hubs?: readonly { readonly record: string; readonly ties: number; readonly passesOn: number }[];
}

export function leak(model: Model, options: LeakOptions): LeakDocument {
  const adversary = adversaryOf(options.adversary);
  const asked = [options.base, options.profile, options.epsilon].filter((x) => x !== undefined);
  if (asked.length !== 1)
    throw new Fault(
      'USAGE',
      'Give exactly one of --base, --profile and --epsilon.',
      'For example: fugu leak model.json --base 0.1',
    );
  if (options.epsilon !== undefined) {
    const epsilon = positive(options.epsilon, 'epsilon');
    const base = largestBase(model, epsilon, adversary);
    const found = isPositive(base) ? toNumberUp(base) : 0;
    return {
      ...answer(model, found, adversary),
      base: toNumberDown(base),
      epsilon: toNumber(epsilon),
      amplification: isPositive(base) ? divUp(toNumberUp(epsilon), toNumberDown(base)) : Number.POSITIVE_INFINITY,
    };
  }
  if (options.base !== undefined) return answer(model, toNumberUp(positive(options.base, 'base')), adversary);
  const parts = options.profile!.split(',');
  within('numbers', parts.length);
  const entries = parts.map((text) => {
    const e = parseRational(text, 'profile entry');
    if (e.num < 0n)
      throw new Fault('BUDGET_INVALID', 'A profile entry is negative.', 'Use 0 for a record that no release touches.');
    return toNumberUp(e);
  });
  if (entries.length !== model.ids.length)
    throw new Fault(
      'BUDGET_INVALID',
      `The profile has ${entries.length} entries for ${model.ids.length} records.`,
      'Give one base epsilon per record, in the order of the model file.',
      { details: { entries: entries.length, records: model.ids.length } },
    );
  return answer(model, Float64Array.from(entries), adversary);
}

function answer(model: Model, profile: Float64Array | number, adversary: Adversary): LeakDocument {
  const found = leakage(model, profile, adversary);
  const name = (record: number) => model.ids[record]!;
  const strong = hubs(model).filter((h) => h.passesOn >= 1);
  return {
    adversary,
    leakage: Object.fromEntries(model.ids.map((id, i) => [id, found.perRecord[i]!])),
    worst: { record: name(found.worst.record), leakage: found.worst.leakage },
    group: found.group,
    certified: found.certified,
    how: found.how,
    ...(typeof profile === 'number' && profile > 0 && { whatIf: whatIf(model, profile) }),
    ...(strong.length > 0 && { hubs: strong.map((h) => ({ ...h, record: name(h.record) })) }),
  };
}

/** Longer lists are for --json. */
const shown = 20;

function human(d: LeakDocument): string {
  const all = Object.entries(d.leakage).sort((a, b) => b[1] - a[1]);
  const lines = [
    ...(d.epsilon === undefined
      ? []
      : [
          bold(`Every record may spend a base epsilon of ${figure(d.base!)}`),
          `so that nobody gains more than ${figure(d.epsilon)} about any record; the ties cost a factor of ${figure(d.amplification!)}.`,
          '',
        ]),
    table(
      ['record', 'leakage'],
      all.slice(0, shown).map(([id, leak]) => [id, figure(leak)]),
    ),
    ...(all.length > shown ? [dim(`… and ${all.length - shown} more (--json lists all)`)] : []),
    '',
    `worst: ${d.worst.record} at ${figure(d.worst.leakage)}; group privacy would say ${figure(d.group)}; adversary ${d.adversary}; a proven bound, rounded up.`,
    dim(d.how),
    ...(d.whatIf
      ? [
          `If the odds ratios were twice as large: ${figure(d.whatIf.oddsTimes2)}; four times: ${figure(d.whatIf.oddsTimes4)}; with one more tie per record: ${figure(d.whatIf.oneMoreTie)}.`,
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

function adversaryOf(text: string): Adversary {
  if (text === 'informed' || text === 'uninformed') return text;
  throw new Fault('USAGE', 'The adversary is informed or uninformed.', 'Write --adversary informed, or leave it out.');
}

function positive(text: string, what: string): Rational {
  const value = parseRational(text, what);
  if (!isPositive(value)) throw new Fault('BUDGET_INVALID', `The ${what} must be positive.`, 'Use a number such as 0.1.');
  return value;
}
