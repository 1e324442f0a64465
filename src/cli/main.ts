#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { Fault } from '../errors.js';
import { fail } from './output.js';

/** Each command is one file that registers itself; only the one asked for is loaded. */
const commands: Record<string, () => Promise<{ register(program: Command): void }>> = {
  attack: () => import('./attack.js'),
  audit: () => import('./audit.js'),
  compare: () => import('./compare.js'),
  check: () => import('./check.js'),
  confirm: () => import('./confirm.js'),
  demo: () => import('./demo.js'),
  init: () => import('./init.js'),
  epsilon: () => import('./epsilon.js'),
  leak: () => import('./leak.js'),
  learn: () => import('./learn.js'),
  ledger: () => import('./ledger.js'),
  pattern: () => import('./pattern.js'),
  plan: () => import('./plan.js'),
  posterior: () => import('./posterior.js'),
  release: () => import('./release.js'),
};

async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('fugu')
    .description('Private statistics for data whose records know each other.')
    .version('0.1.0')
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const asked = argv[2] ?? '';
  const wanted = Object.hasOwn(commands, asked) ? [asked] : Object.keys(commands);
  for (const name of wanted) (await commands[name]!()).register(program);
  if (asked === '') {
    program.outputHelp();
    return;
  }
  await program.parseAsync([...argv]);
}

// `fugu ... | head` closes the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const wantsJson = process.argv.includes('--json');
run(process.argv).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return;
    const words = error.message.replace(/^error: /, '');
    fail(
      new Fault(
        'USAGE',
        `${words.charAt(0).toUpperCase()}${words.slice(1)}.`.replace(/\.\.$/, '.'),
        'Run "fugu --help", or "fugu COMMAND --help".',
      ),
      wantsJson,
    );
  }
  fail(error, wantsJson);
});
