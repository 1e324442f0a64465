import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { posteriorAtMost } from '../accounting/belief.js';
import { percent } from '../accounting/belief-words.js';
import { fromNumber, rational, toNumber } from '../exact/rational.js';
import { writeFolder } from '../files/write-file.js';
import type { AnswerTable } from '../query/bound.js';
import type { Release } from '../release/receipt.js';
import { demoQuestions, demoSurvey } from './demo-people.js';
import { bold, dim, emit, figure, good, table, warn } from './output.js';
import { outcomes } from './paid.js';
import { withSession } from './session.js';
import { writeRelease } from './write-release.js';

export function register(program: Command): void {
  program
    .command('demo')
    .description('a worked example on made-up people in households, end to end')
    .option('--out <dir>', 'where to put data, policies and reports', join('out', 'demo'))
    .option('--json', 'one JSON document on stdout')
    .action(async (words: { out: string; json?: boolean }) => {
      outcomes.arise();
      const story = await tell(resolve(words.out));
      emit(words.json, story.json, () => story.text);
    });
}

const policyText = (population: string, dependence: string) => `# Made by "fugu demo".
data:       { source: survey.csv }
protect:    { secret: row, unit: person }
budget:     { epsilon: 1 }
population: ${population}
ledger:     ledger.db
dependence: ${dependence}
columns:
${Object.entries(demoQuestions)
  .map(([name, values]) => `  ${name}: { type: category, values: [${values.map((v) => `"${v}"`).join(', ')}] }`)
  .join('\n')}
  age:   { type: integer, bounds: [18, 90] }
  media: { type: multi, values: [tv, web, paper], separator: ";" }
`;

const households = '[{ kind: groups, by: household, oddsRatio: 10, hidden: true, maxSize: 6 }]';

async function tell(out: string): Promise<{ json: unknown; text: string }> {
  const survey = demoSurvey();
  // A fresh story each time: the demo's own ledger is thrown away, which a real one never is.
  const home = freshFolder(out);
  const files = [
    ['survey.csv', survey.csv],
    ['strangers.yaml', policyText('demo-strangers', 'none')],
    ['households.yaml', policyText('demo-households', households)],
  ] as const;
  writeFolder(home, files, { hint: 'Choose another folder with --out.' });

  const strangers = await releaseSurvey(join(home, 'strangers.yaml'), join(home, 'strangers'));
  const tied = await releaseSurvey(join(home, 'households.yaml'), join(home, 'households'));
  // What the first release would give an attacker who knows the households: its base cost under the second policy's ties.
  const base = strangers.release.receipt.epsilon;
  const leaked = tied.leakage(base);
  const rows = [
    ['noise on a count (95 %)', `± ${figure(strangers.error)}`, `± ${figure(tied.error)}`],
    ['attacker who ignores households: 10 % becomes at most', after(base), after(tied.baseCost)],
    ['attacker who knows them: 10 % becomes at most', after(leaked), after(1)],
  ];
  const json = {
    people: survey.people,
    households: survey.households,
    strangers: { error: strangers.error, leakage: leaked, report: join(home, 'strangers', 'report.html') },
    declared: { error: tied.error, leakage: 1, report: join(home, 'households', 'report.html') },
  };
  const party = partyOf(tied.release);
  const text = [
    bold(
      `${survey.people} made-up people in ${survey.households} households answered ${Object.keys(demoQuestions).length + 2} questions.`,
    ),
    'Everything was released twice with epsilon 1: once as if they were strangers, once with the households declared',
    '(up to 6 people who share habits; odds ratio 10 between a habit and an answer).',
    '',
    table(['', 'households not declared', 'declared'], rows),
    '',
    `${warn('Not declared:')} each record alone is protected, but the household gives a person away: the odds move by e^${figure(leaked)}, not e^1.`,
    `${good('Declared:')} Fugu added just enough noise that knowing the household does not help more than promised.`,
    '',
    bold('One of the twelve tables (households declared)'),
    table(
      ['party', 'people', '95 % interval'],
      party.rows.map((r) => [r.keys[0]!, figure(r.value ?? 0), `${figure(r.low ?? 0)} … ${figure(r.high ?? 0)}`]),
    ),
    '',
    `Open ${bold(join(home, 'households', 'report.html'))} for tables, charts and the promise in plain words.`,
    dim(`Data, policies and ledger are in ${home}. Try: ./fugu check ${join(home, 'households.yaml')}`),
  ].join('\n');
  return { json, text };
}

const partyOf = (release: Release): AnswerTable => release.tables.find((t) => t.name.includes('party'))!;
const halfWidth = ({ rows }: AnswerTable): number => (rows[0]!.high! - rows[0]!.low!) / 2;

function freshFolder(out: string): string {
  for (let k = 1; ; k++) {
    const home = join(out, `run-${k}`);
    if (!existsSync(home)) return home;
  }
}

async function releaseSurvey(policy: string, out: string) {
  return withSession(policy, async (session, parts) => {
    const { surveyBatch } = await import('../survey/query.js');
    const release: Release = await session.release(surveyBatch(parts.policy), {
      all: true,
      label: 'survey: one histogram per column',
    });
    await writeRelease(out, release, parts.policy);
    const [route] = session.account.routes;
    const { parseRational } = await import('../exact/rational.js');
    return {
      release,
      error: halfWidth(partyOf(release)),
      baseCost: toNumber(route!.pureCapacity),
      leakage: (base: number) => route!.amplifier.leakage(parseRational(`${base}`)),
    };
  });
}
const after = (epsilon: number) => percent(posteriorAtMost(rational(1, 10), fromNumber(epsilon)), 'up');
