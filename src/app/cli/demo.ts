import type { Command } from 'commander';
import { writeFolder } from '../../base/files/write-file.js';
import { join, resolve } from '../../base/platform/paths.js';
import type { Demo } from '../api/demo.js';
import { percentText } from '../report/number.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { type AskLine, askYesNo, isInteractive, withDialogue } from './dialogue.js';
import { emit, warnCaution } from './output.js';
import { outcomes } from './process-ending.js';
import { stopListening } from './signals.js';
import { typed } from './typed.js';

export function registerDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('a worked example on made-up people in households, end to end')
    .option('--out <dir>', 'where to put data, policies and reports', join('out', 'demo'))
    .option('--json', 'one JSON document on stdout')
    .action(async (words: { out: string; json?: boolean }) => {
      outcomes.arise();
      const { demo } = await import('../api/demo.js');
      const { writeRelease } = await import('./write-release.js');
      const { demoPage } = await import('../report/demo-page.js');
      const story = await demo(resolve(words.out), writeRelease, { outcomes, caution: warnCaution });
      const page = [pageName, demoPage(story)] as const;
      writeFolder(story.home, [page], { hint: 'Choose another folder with --out.' });
      emit(words.json, documentOf(story), () => storyText(story));
      if (!isInteractive(words.json) || !(await withDialogue(wantsConsole))) return;
      const { serveUntilStopped } = await import('./serving.js');
      stopListening();
      await serveUntilStopped(served(story.home), { host: '127.0.0.1', port: 0, link: true, browser: true });
    });
}

/** A closed input means no: a service without a user would never end. */
const wantsConsole = (ask: AskLine, hasEnded: () => boolean): Promise<boolean> =>
  askYesNo(async (question) => (await ask(question)) || (hasEnded() ? 'n' : ''), 'Open the console in your browser?', true);

/** Policies of the demo in the order offered: the unspent one first, then the released ones. */
const served = (home: string): readonly string[] =>
  ['yours', 'households', 'strangers'].map((name) => join(home, `${name}.yaml`));

const pageName = 'comparison.html';

const documentOf = ({ home, people, households, strangers, declared }: Demo) => ({
  page: join(home, pageName),
  people,
  households,
  strangers: { error: strangers.error, leakage: strangers.leakage, report: join(strangers.folder, 'report.html') },
  declared: { error: declared.error, leakage: declared.leakage, report: join(declared.folder, 'report.html') },
});

function storyText({ home, people, households, questions, strangers, declared, party }: Demo): string {
  const up = (belief: number) => percentText(belief, 'up');
  const rows = [
    ['noise on a count (95 %)', `± ${numberText(strangers.error)}`, `± ${numberText(declared.error)}`],
    ['attacker who ignores households: 10 % becomes at most', up(strangers.ignoring), up(declared.ignoring)],
    ['attacker who knows them: 10 % becomes at most', up(strangers.knowing), up(declared.knowing)],
  ];
  return [
    bold(`${numberText(people)} made-up people in ${numberText(households)} households answered ${questions} questions.`),
    'Everything was released twice with epsilon 1: once as if they were strangers, once with the households declared',
    '(up to 6 people who lean the same way; odds ratio 10 between the leaning and a person).',
    '',
    table(['', 'households not declared', 'declared'], rows),
    '',
    `${warn('Not declared:')} each record alone is protected, but the household gives a person away: the odds move by e^${numberText(strangers.leakage)}, not e^1.`,
    `${good('Declared:')} Fugu added just enough noise that knowing the household does not help more than promised.`,
    '',
    bold('One of the thirteen tables (households declared)'),
    table(
      ['party', 'people', '95 % interval'],
      party.rows.map((r) => [r.keys[0]!, numberText(r.value ?? 0), `${numberText(r.low ?? 0)} … ${numberText(r.high ?? 0)}`]),
    ),
    '',
    `Open ${bold(join(home, pageName))}: both releases side by side, the leak drawn. ${join(home, 'households', 'report.html')} has tables, charts and the promise in plain words.`,
    dim(`Data, policies and ledger are in ${home}. Try: ${typed()} check ${join(home, 'households.yaml')}`),
    '',
    `Ask yourself, in a browser (nothing is spent yet under ${bold('yours')}; the two releases can be looked at and attacked):`,
    bold(`  ${typed()} serve ${served(home).join(' ')}`),
  ].join('\n');
}
