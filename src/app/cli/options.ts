import type { Command, Option } from 'commander';
import { Fault, type Outcome } from '../../base/errors.js';
import { notSpent } from '../api/outcome-words.js';
import { mostReason } from '../api/reason.js';
import type { OptionWords } from './request-options.js';

/** Marks commands that can spend. */
export const yesOption = ['--yes', 'spend without asking, also on a terminal'] as const;

/** Outcome of a command line that is refused before a command begins; absent where no such command can spend. */
export const outcomeOfWords = (command: Command): { readonly outcome?: Outcome } =>
  maySpend(command) ? { outcome: notSpent } : {};
const maySpend = ({ options, commands }: Command): boolean =>
  options.some(({ description }) => description === yesOption[1]) || commands.some(maySpend);

/** An option whose values accumulate; every other one has one value. */
const isRepeatable = (option: Option): boolean => option.variadic || option.parseArg !== undefined;

/** Refuses, in this command and its subcommands, an option that is given twice: the first value would be dropped. */
export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (isRepeatable(option) || !(option.required || option.optional)) continue;
    let given = false;
    command.on(`option:${option.name()}`, () => {
      if (given)
        throw new Fault(
          'USAGE',
          `${option.long ?? option.flags} is given twice.`,
          'Give it once; several queries go into one: --query \'{"queries": [...]}\'.',
          outcomeOfWords(command),
        );
      given = true;
    });
  }
  for (const below of command.commands) refuseRepeatedOptions(below);
}

/** Refuses options that were given and that this use of a command does not read. */
export function refuseUnreadOptions(
  command: Command,
  read: readonly string[],
  hint: string | ((unread: string) => string),
): void {
  const unread = command.options.find(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli' && !read.includes(option.attributeName()),
  );
  if (unread)
    throw new Fault(
      'USAGE',
      `${unread.long ?? unread.flags} is not used here.`,
      typeof hint === 'string' ? hint : hint(unread.attributeName()),
    );
}

/** Options that each action of a command reads, by name, and the argument after the action. */
export type ReadByAction = Readonly<Record<string, readonly string[]>>;

/** The same for one action of a command; `word` is the argument after it. */
export function refuseUnreadBy(command: Command, actions: ReadByAction, action: string, word: readonly [string, unknown]): void {
  const [name, given] = word;
  const goesWith = (unread: string) => {
    const readers = Object.keys(actions).filter((other) => actions[other]!.includes(unread));
    return `It goes with ${readers.join(', ')}: fugu ${command.name()} --help.`;
  };
  const read = actions[action]!;
  refuseUnreadOptions(command, [...read, 'json'], goesWith);
  if (given !== undefined && !read.includes(name))
    throw new Fault('USAGE', `The argument after "${action}" is not used here.`, goesWith(name));
}

/** Refuses --overwrite where nothing is written. */
export function refuseOverwriteAlone({ out, overwrite }: OptionWords): void {
  if (overwrite && out === undefined)
    throw new Fault('USAGE', '--overwrite goes with --out.', 'Name the folder with --out, or leave --overwrite out.');
}

/** A reason as it goes into the chain; refused where it says nothing, or more than the chain takes. */
export function reasonIn(text: string | undefined, option: string, refusal: readonly [message: string, hint: string]): string {
  const said = text?.trim() ?? '';
  if (said === '') throw new Fault('USAGE', ...refusal);
  if (said.length > mostReason)
    throw new Fault(
      'USAGE',
      `${option} has more than ${mostReason.toLocaleString('en-US')} characters.`,
      'Write it shorter: it goes into the chain for good.',
    );
  return said;
}
