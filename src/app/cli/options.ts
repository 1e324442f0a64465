import type { Command, Option } from 'commander';
import { Fault, type Outcome } from '../../base/errors.js';
import { notSpent } from '../api/outcome-words.js';

/** Marks commands that can spend. */
export const yesOption = ['--yes', 'spend without asking, also on a terminal'] as const;

/** Outcome of words that are refused before a command begins; absent where no command among them can spend. */
export const outcomeOfWords = (command: Command): { readonly outcome?: Outcome } =>
  maySpend(command) ? { outcome: notSpent } : {};
const maySpend = ({ options, commands }: Command): boolean =>
  options.some(({ description }) => description === yesOption[1]) || commands.some(maySpend);

/** An option whose values add up; every other one has one value. */
const isRepeatable = (option: Option): boolean => option.variadic || option.parseArg !== undefined;

/** Refuses, in this command and those below it, an option that is given twice: the first value would be dropped. */
export function refuseRepeated(command: Command): void {
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
  for (const below of command.commands) refuseRepeated(below);
}

/** Refuses options that were given and that this use of a command does not read. */
export function refuseUnread(command: Command, read: readonly string[], hint: string): void {
  const unread = command.options.find(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli' && !read.includes(option.attributeName()),
  );
  if (unread) throw new Fault('USAGE', `${unread.long ?? unread.flags} is not used here.`, hint);
}
