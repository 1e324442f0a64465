import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fugu } from '../fugu.js';
import {
  both,
  type Judge,
  type JudgeAgain,
  judgeAgain,
  judgeAmend,
  judgeFiles,
  judgeLeft,
  judgeLooking,
  judgeOutputOnly,
  judgeRebuilt,
  judgeRebuiltAgain,
  judgeRelease,
  ledgerBudget,
  ledgerPopulation,
} from './oracle.js';

/** One command over a prepared folder, and what must hold when its disk fails. */
export interface Scenario {
  readonly name: string;
  readonly words: readonly string[];
  /** Only this one of the processes that it starts meets the faults. */
  readonly only?: string;
  readonly temporary?: string;
  prepare(folder: string): Promise<void>;
  readonly judge: Judge;
  /** Conditions that hold when the same command runs again on a sound disk. */
  readonly again?: JudgeAgain;
}

const policy = (epsilon: number, more = '') => `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: ${epsilon} }
population: ${ledgerPopulation}
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep] }
${more}`;
const unconfirmed = '  age: { type: integer, bounds: [0, 99] }\nunconfirmed: [party, age]\n';

const people = (folder: string, text = policy(ledgerBudget)) => {
  writeFileSync(
    join(folder, 'people.csv'),
    `id,party,age,home\n${Array.from({ length: 30 }, (_, i) => `p${i},${i % 2 ? 'rep' : 'dem'},${20 + i},h${i >> 1}\n`).join('')}`,
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
  const result = await fugu({ cwd: folder }, ...words);
  if (result.code !== 0) throw new Error(`the scene could not be set: ${result.out}${result.err}`);
}
const spentOnce = async (folder: string) => {
  people(folder);
  await sound(folder, count);
};

/** Households of two, of whom the attacker knows. */
const tied = policy(ledgerBudget).replace(
  'dependence: none',
  'dependence: [{ kind: groups, by: home, oddsRatio: 3, maxSize: 2, column: party }]',
);
const withAge = policy(ledgerBudget, '  age: { type: integer, bounds: [0, 99] }\n');

const reportFiles = ['receipt.json', 'report.html', 'datapackage.json', 'tables.xlsx', 'party.csv'].map((f) => `report/${f}`);
const whole = (name: string) =>
  name.endsWith('.html')
    ? /^<!doctype html>[\s\S]*<\/html>\s*$/i
    : name.endsWith('.json')
      ? /^\{[\s\S]*\}\n$/
      : /^[^\n]+\n[\s\S]*\n$/;

const backup = ['ledger', 'policy.yaml', 'backup', 'copy', '--json'];
const restore = ['ledger', 'policy.yaml', 'restore', 'copy', '--json'];
const recover = ['ledger', 'policy.yaml', 'recover', '--reason', 'a bad sector', '--json'];
const wholeCopy = () => /^fugu-ledger-copy 1\n[\s\S]*\nend \d+\n$/;
/** Once with faults in the command itself, once in the process that reads the index for it. */
const inBoth = (scenario: Scenario): readonly Scenario[] => [
  scenario,
  { ...scenario, name: `${scenario.name}, reading`, only: 'child-main.js' },
];

export const scenarios: readonly Scenario[] = [
  {
    name: 'first release',
    words: count,
    prepare: async (folder) => people(folder),
    judge: judgeRelease,
    again: judgeAgain,
  },
  { name: 'next release', words: ask(parties), prepare: spentOnce, judge: judgeRelease, again: judgeAgain },
  {
    name: 'release into a folder',
    words: ask(parties, '--out', 'report', '--overwrite'),
    prepare: async (folder) => {
      await spentOnce(folder);
      await sound(folder, ask({ ...parties, where: [{ column: 'party', op: '=', value: 'dem' }] }, '--out', 'report'));
    },
    judge: both(judgeRelease, judgeFiles(reportFiles, whole)),
    again: judgeAgain,
  },
  {
    name: 'release, temporary files',
    words: ask(parties),
    temporary: 'temporary',
    prepare: async (folder) => {
      mkdirSync(join(folder, 'temporary'));
      await spentOnce(folder);
    },
    judge: judgeRelease,
    again: judgeAgain,
  },
  {
    name: 'analysis into a folder',
    words: [
      'release',
      'policy.yaml',
      '--kmeans',
      '{"columns":["age"],"clusters":2}',
      '--epsilon',
      '1',
      '--out',
      'report',
      '--json',
    ],
    prepare: async (folder) => people(folder, withAge),
    judge: both(
      judgeRelease,
      judgeFiles(
        ['receipt.json', 'result.json', 'report.html', 'centres.csv'].map((f) => `report/${f}`),
        whole,
      ),
    ),
  },
  {
    name: 'learn',
    words: ['learn', 'columns', 'policy.yaml', '--out', 'model.json', '--epsilon', '1', '--json'],
    prepare: async (folder) => people(folder, withAge),
    judge: both(judgeRelease, judgeFiles(['model.json'], whole)),
  },
  {
    name: 'synthetic rows',
    words: 'synth policy.yaml --mode mst --out rows.csv --epsilon 1 --json'.split(' '),
    prepare: async (folder) => people(folder, withAge),
    judge: both(judgeRelease, judgeFiles(['rows.csv', 'rows.receipt.json', 'rows.dictionary.json', 'rows.html'], whole)),
  },
  {
    name: 'learn transitions',
    words: 'learn transitions policy.yaml --by home --order age --state party --out steps.json --epsilon 1 --json'.split(' '),
    prepare: async (folder) => people(folder, withAge),
    judge: both(judgeRelease, judgeFiles(['steps.json'], whole)),
  },
  {
    name: 'stream of one step',
    words: [
      'stream',
      'policy.yaml',
      '--every',
      '60',
      '--order',
      'age',
      '--query',
      JSON.stringify(parties),
      '--epsilon',
      '1',
      '--json',
    ],
    prepare: async (folder) =>
      people(folder, policy(ledgerBudget, '  age: { type: integer, bounds: [-20, 99], public: true }\n')),
    judge: judgeRelease,
    again: judgeAgain,
  },
  { name: 'told again', words: count, prepare: spentOnce, judge: judgeRelease, again: judgeAgain },
  {
    name: 'amend',
    words: ['ledger', 'policy.yaml', 'amend', '--reason', 'a second wave', '--json'],
    prepare: async (folder) => {
      await spentOnce(folder);
      writeFileSync(join(folder, 'policy.yaml'), policy(ledgerBudget - 1));
    },
    judge: both(judgeAmend, judgeLeft),
  },
  {
    name: 'enter',
    words: ['ledger', 'policy.yaml', 'enter', 'receipt.json', '--records-per-person', '1', '--reason', 'their table', '--json'],
    prepare: async (folder) => {
      await spentOnce(folder);
      const receipt = { label: 'count', population: 'theirs', at: '2026-01-01', ledger: { entry: 2, hash: 'abc' } };
      const cost = { guarantee: { secret: 'row' }, measures: [], profile: { noise: 'pure', perRecord: { '*': '1' } } };
      const privacyUnit = { secret: 'row', record: 'one row', neighbours: 'replace', public: [], ties: [], relied: [] };
      writeFileSync(join(folder, 'receipt.json'), JSON.stringify({ ...receipt, ...cost, privacyUnit }));
    },
    judge: both(judgeRelease, judgeLeft),
    again: judgeAgain,
  },
  { name: 'show', words: ['ledger', 'policy.yaml', '--json'], prepare: spentOnce, judge: judgeLooking },
  { name: 'verify', words: ['ledger', 'policy.yaml', 'verify', '--json'], prepare: spentOnce, judge: judgeLooking },
  ...inBoth({ name: 'backup', words: backup, prepare: spentOnce, judge: both(judgeLooking, judgeFiles(['copy'], wholeCopy)) }),
  ...inBoth({
    name: 'recover from the index',
    words: recover,
    prepare: async (folder) => {
      await spentOnce(folder);
      rmSync(join(folder, 'ledger.db.chain'));
    },
    judge: judgeRebuilt,
    again: judgeRebuiltAgain,
  }),
  ...inBoth({
    name: 'recover from the chain',
    words: recover,
    prepare: async (folder) => {
      await spentOnce(folder);
      const bytes = readFileSync(join(folder, 'ledger.db'));
      writeFileSync(join(folder, 'ledger.db'), bytes.fill(0x55, 0, 100));
    },
    judge: judgeRebuilt,
    again: judgeRebuiltAgain,
  }),
  {
    name: 'restore a ledger',
    words: [...restore, '--reason', 'the disk was lost'],
    prepare: async (folder) => {
      await spentOnce(folder);
      await sound(folder, backup);
      for (const file of ['ledger.db', 'ledger.db.chain']) rmSync(join(folder, file));
    },
    judge: judgeRebuilt,
    again: judgeRebuiltAgain,
  },
  {
    name: 'restore answers',
    words: restore,
    prepare: async (folder) => {
      await spentOnce(folder);
      await sound(folder, backup);
      rmSync(join(folder, 'ledger.db'));
    },
    judge: both(judgeLooking, judgeLeft, judgeRebuilt),
    again: judgeRebuiltAgain,
  },
  {
    name: 'confirm',
    words: ['confirm', 'policy.yaml', '--all', '--json'],
    prepare: async (folder) => people(folder, policy(ledgerBudget, unconfirmed)),
    judge: both(judgeOutputOnly, judgeFiles(['policy.yaml'])),
  },
  {
    name: 'chart',
    words: ['epsilon', 'policy.yaml', '--query', JSON.stringify(parties), '--error', '5', '--chart', 'chart.svg', '--json'],
    prepare: async (folder) => {
      people(folder);
      writeFileSync(join(folder, 'chart.svg'), 'old');
    },
    judge: both(judgeOutputOnly, judgeFiles(['chart.svg'])),
  },
  {
    name: 'ties',
    words: ['learn', 'ties', '--affinity', 'alike.csv', '--out', 'ties.csv', '--json'],
    prepare: async (folder) => writeFileSync(join(folder, 'alike.csv'), 'id,x,y\na,1,2\nb,1,2\nc,2,1\n'),
    judge: both(judgeOutputOnly, judgeFiles(['ties.csv'])),
  },
  {
    name: 'attack page',
    words: ['attack', 'policy.yaml', '--release', 'report', '--json'],
    prepare: async (folder) => {
      people(folder, tied);
      await sound(folder, ask(parties, '--out', 'report'));
    },
    judge: both(judgeOutputOnly, judgeFiles(['private/attack-party.html'], whole)),
  },
  {
    name: 'init',
    words: ['init', 'people.csv', '--out', 'draft.yaml', '--json'],
    prepare: async (folder) => people(folder),
    judge: both(judgeOutputOnly, judgeFiles(['draft.yaml'])),
  },
];
