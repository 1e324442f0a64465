import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fugu } from '../fugu.js';
import {
  both,
  budget,
  type Judge,
  judgeAmend,
  judgeFiles,
  judgeLooking,
  judgeRelease,
  judgeSpeech,
  population,
} from './oracle.js';

/** One command over a prepared folder, and what must hold when its disk fails. */
export interface Scenario {
  readonly name: string;
  readonly words: readonly string[];
  prepare(folder: string): Promise<void>;
  readonly judge: Judge;
  /** Whether the same command on a sound disk must complete it, paid for once. */
  readonly again?: boolean;
}

const policy = (epsilon: number, more = '') => `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: ${epsilon} }
population: ${population}
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep] }
${more}`;
const unconfirmed = '  age: { type: integer, bounds: [0, 99] }\nunconfirmed: [party, age]\n';

const people = (folder: string, text = policy(budget)) => {
  writeFileSync(
    join(folder, 'people.csv'),
    `id,party,age\n${Array.from({ length: 30 }, (_, i) => `p${i},${i % 2 ? 'rep' : 'dem'},${20 + i}\n`).join('')}`,
  );
  writeFileSync(join(folder, 'policy.yaml'), text);
};

const ask = (query: object, ...more: string[]) => [
  'release',
  'policy.yaml',
  '--query',
  JSON.stringify(query),
  '--epsilon',
  '1',
  ...more,
  '--json',
];
const count = ask({ kind: 'count' });
const parties = { kind: 'histogram', column: 'party' };

async function sound(folder: string, words: readonly string[]): Promise<void> {
  const said = await fugu({ cwd: folder }, ...words);
  if (said.code !== 0) throw new Error(`the scene could not be set: ${said.out}${said.err}`);
}
const spentOnce = async (folder: string) => {
  people(folder);
  await sound(folder, count);
};

const reportFiles = ['report/receipt.json', 'report/report.html', 'report/party.csv'];
const whole = (name: string) =>
  name.endsWith('.html')
    ? /^<!doctype html>[\s\S]*<\/html>\s*$/i
    : name.endsWith('.json')
      ? /^\{[\s\S]*\}\n$/
      : /^[^\n]+\n[\s\S]*\n$/;

export const scenarios: readonly Scenario[] = [
  {
    name: 'first release',
    words: count,
    prepare: async (folder) => people(folder),
    judge: judgeRelease,
    again: true,
  },
  { name: 'next release', words: ask(parties), prepare: spentOnce, judge: judgeRelease, again: true },
  {
    name: 'release into a folder',
    words: ask(parties, '--out', 'report'),
    prepare: async (folder) => {
      await spentOnce(folder);
      await sound(folder, ask({ ...parties, where: [{ column: 'party', op: '=', value: 'dem' }] }, '--out', 'report'));
    },
    judge: both(judgeRelease, judgeFiles(reportFiles, whole)),
    again: true,
  },
  { name: 'told again', words: count, prepare: spentOnce, judge: judgeRelease, again: true },
  {
    name: 'amend',
    words: ['ledger', 'policy.yaml', 'amend', '--reason', 'a second wave', '--json'],
    prepare: async (folder) => {
      await spentOnce(folder);
      writeFileSync(join(folder, 'policy.yaml'), policy(budget - 1));
    },
    judge: judgeAmend,
  },
  { name: 'show', words: ['ledger', 'policy.yaml', '--json'], prepare: spentOnce, judge: judgeLooking },
  { name: 'verify', words: ['ledger', 'policy.yaml', 'verify', '--json'], prepare: spentOnce, judge: judgeLooking },
  {
    name: 'confirm',
    words: ['confirm', 'policy.yaml', '--all', '--json'],
    prepare: async (folder) => people(folder, policy(budget, unconfirmed)),
    judge: both(judgeSpeech, judgeFiles(['policy.yaml'])),
  },
  {
    name: 'init',
    words: ['init', 'people.csv', '--out', 'draft.yaml', '--json'],
    prepare: async (folder) => people(folder),
    judge: both(judgeSpeech, judgeFiles(['draft.yaml'])),
  },
];
