#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { Fault } from '../../base/errors.js';
import { version } from '../../base/version.js';
import { commands, groups } from './commands.js';
import { outcomeOfWords, refuseRepeatedOptions } from './options.js';
import { fail, printNote } from './output.js';
import { exitHelp, outcomes } from './process-ending.js';
import { listenForSignals } from './signals.js';

const asksVersion = new Set(['--version', '-V']);

/** Outcome of a command line that no command accepts. */
let refusedWords: ReturnType<typeof outcomeOfWords> = {};

async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('fugu')
    .description('Private statistics for data whose records know each other.')
    .version(version)
    .showHelpAfterError(false)
    .addHelpText('after', exitHelp)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const commandName = argv[2] ?? '';
  const all = asksVersion.has(commandName) ? [] : Object.keys(commands);
  const wanted = Object.hasOwn(commands, commandName) ? [commandName] : all;
  for (const name of wanted) (await commands[name]!())(program);
  refuseRepeatedOptions(program);
  if (Object.hasOwn(commands, commandName)) refusedWords = outcomeOfWords(program);
  for (const command of program.commands)
    command.helpGroup(Object.keys(groups).find((heading) => command.name() in groups[heading]!) ?? 'Commands:');
  if (commandName === '') {
    program.outputHelp();
    return;
  }
  await program.parseAsync([...argv]);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const closed = error.code === 'EPIPE';
  // `fugu ... | head` closes the pipe early; that is no failure, unless the unread answer was paid for.
  if (closed && outcomes.entries.length === 0) process.exit(0);
  fail(
    closed
      ? new Fault('DISK_FAILED', 'Whoever reads the output closed it before all was written.', 'Run the same command again.')
      : new Fault(
          'DISK_FULL',
          'The answer could not be written to where its output goes.',
          'Free some space and run the same command again.',
        ),
    false,
  );
});
// If stderr is closed, the exit code still reports the outcome.
process.stderr.on('error', () => undefined);

const wantsJson = process.argv.includes('--json');
// For an audit log: the names under which the database's own log lists our queries.
if (process.env.FUGU_TRAIL) outcomes.follow = (trail) => printNote(JSON.stringify({ trail }));
// The workbench spends nothing and computes for long without reaching a handler: a signal ends the process at once.
// A service finishes its running work.
const own = new Set(['serve', ...Object.keys(groups['Workbench:']!)]);
if (!own.has(process.argv[2] ?? '')) listenForSignals(wantsJson);
run(process.argv).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return;
    const [words = '', guess] = error.message.replace(/^error: /, '').split('\n');
    const commandName = process.argv[2] ?? '';
    fail(
      new Fault(
        'USAGE',
        `${words.charAt(0).toUpperCase()}${words.slice(1)}.`.replace(/\.\.$/, '.'),
        [guess?.replace(/^\((.*)\)$/, '$1'), `Run "fugu ${Object.hasOwn(commands, commandName) ? `${commandName} ` : ''}--help".`]
          .filter(Boolean)
          .join(' '),
        refusedWords,
      ),
      wantsJson,
    );
  }
  fail(error, wantsJson);
});
