import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readExamples } from '../../src/learn/classify/examples.js';
import { mapFeatures } from '../../src/learn/classify/features.js';
import { margin } from '../../src/learn/classify/gradient.js';
import { huberHinge, logistic } from '../../src/learn/classify/loss.js';
import { minimise } from '../../src/learn/classify/minimise.js';
import { type ClassifyResult, predict } from '../../src/learn/classify/predict.js';
import { parseClassify } from '../../src/learn/classify/request.js';
import { openLedger } from '../../src/ledger/open.js';
import { createSession, type Session } from '../../src/release/session.js';
import { openEngine } from '../../src/terms/open.js';
import { readPolicy } from '../../src/terms/read.js';
import { publicData } from '../data.js';

/** The UCI census file. */
export const adultFolder = publicData('adult/', 'adult.data.gz');

const names =
  'age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain capital_loss hours_per_week native_country income'.split(
    ' ',
  );
type Row = Readonly<Record<string, string>>;

/** Rows without a missing cell, as in the papers. */
function readRows(folder: URL, file: string): Row[] {
  return gunzipSync(readFileSync(new URL(file, folder)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line.includes(',') && !line.startsWith('|') && !line.includes('?'))
    .map((line) => Object.fromEntries(line.split(',').map((cell, c) => [names[c]!, cell.trim().replace(/\.$/, '')])));
}

const features = names.filter((name) => !['fnlwgt', 'education', 'income'].includes(name));
export const ask = { label: 'income', positive: ['>50K'], features };

/** Domains and bins as a steward would write them from the census form: nothing here was computed from the rows. */
const columns = `
  age: { type: integer, bounds: [17, 90], bins: [22, 26, 30, 35, 40, 50, 60] }
  workclass: { type: category, values: [Private, Self-emp-not-inc, Local-gov, State-gov, Self-emp-inc, Federal-gov, Without-pay, Never-worked] }
  education_num: { type: integer, bounds: [1, 16] }
  marital_status: { type: category, values: [Married-civ-spouse, Never-married, Divorced, Separated, Widowed, Married-spouse-absent, Married-AF-spouse] }
  occupation: { type: category, values: [Prof-specialty, Craft-repair, Exec-managerial, Adm-clerical, Sales, Other-service, Machine-op-inspct, Transport-moving, Handlers-cleaners, Farming-fishing, Tech-support, Protective-serv, Priv-house-serv, Armed-Forces] }
  relationship: { type: category, values: [Husband, Not-in-family, Own-child, Unmarried, Wife, Other-relative] }
  race: { type: category, values: [White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other] }
  sex: { type: category, values: [Male, Female] }
  capital_gain: { type: integer, bounds: [0, 99999], bins: [1, 5000, 7000] }
  capital_loss: { type: integer, bounds: [0, 4356], bins: [1, 1800, 2000] }
  hours_per_week: { type: integer, bounds: [1, 99], bins: [20, 35, 41, 50] }
  native_country: { type: category, values: [United-States, Mexico, Philippines, Germany, Canada, India] }
  income: { type: category, values: ["<=50K", ">50K"] }
`;

export interface Bench {
  readonly train: readonly Row[];
  /** Share of test rows that a classifier gets right. */
  accuracy(result: ClassifyResult): number;
  /** The same for the best weights without any privacy. */
  plain(model: 'logistic' | 'svm', regularisation: number): Promise<number>;
  /** A fresh population with its own ledger. */
  session(budget: string, dependence?: string): Promise<Session & { close(): Promise<void> }>;
  remove(): void;
}

export function openBench(folder: URL): Bench {
  const [train, test] = [readRows(folder, 'adult.data.gz'), readRows(folder, 'adult.test.gz')];
  const place = mkdtempSync(join(tmpdir(), 'fugu-adult-'));
  const kept = [...features, 'income'];
  // People with the same profile (every feature but the label) are alike: the column `profile` names them.
  const profile = (row: Row) => features.map((name) => row[name]).join('|');
  writeFileSync(
    join(place, 'train.csv'),
    `${[...kept, 'profile'].join(',')}\n${train.map((row) => [...kept.map((name) => row[name]), profile(row)].join(',')).join('\n')}\n`,
  );
  let count = 0;
  const write = (budget: string, dependence: string): string => {
    const file = join(place, `policy-${++count}.yaml`);
    writeFileSync(
      file,
      `data: { source: train.csv }\nprotect: { secret: row }\nbudget: ${budget}\npopulation: adult-${count}\nledger: ledger-${count}.db\ndependence: ${dependence}\ncolumns:${columns}`,
    );
    return file;
  };
  const right = (isPositive: (row: Row) => boolean): number =>
    test.filter((row) => isPositive(row) === (row.income === '>50K')).length / test.length;
  return {
    train,
    accuracy: (result) => right((row) => predict(result, row).positive),
    async plain(model, regularisation) {
      const policy = await readPolicy(write('{ epsilon: 1 }', 'none'));
      const engine = await openEngine(policy);
      const map = mapFeatures(policy, parseClassify(ask));
      const examples = (await readExamples(engine, policy, map)).open();
      const loss = model === 'logistic' ? logistic : huberHinge(0.5);
      const w = minimise({ examples, loss, records: examples.count, radius: map.radius, regularisation }, 1e-9);
      await engine.close();
      writeFileSync(
        join(place, 'test.csv'),
        `${kept.join(',')}\n${test.map((row) => kept.map((name) => row[name]).join(',')).join('\n')}\n`,
      );
      const testFile = write('{ epsilon: 1 }', 'none');
      writeFileSync(testFile, readFileSync(testFile, 'utf8').replace('train.csv', 'test.csv'));
      const testPolicy = await readPolicy(testFile);
      const testEngine = await openEngine(testPolicy);
      const held = (await readExamples(testEngine, testPolicy, map)).open();
      await testEngine.close();
      let hits = 0;
      for (let i = 0; i < held.count; i++) if (margin(held, map.radius, w, i) > 0) hits++;
      return hits / held.count;
    },
    async session(budget, dependence = 'none') {
      const policy = await readPolicy(write(budget, dependence));
      const engine = await openEngine(policy);
      const ledger = await openLedger(policy.ledger);
      const session = await createSession({ policy, engine, ledger });
      return Object.assign(session, {
        close: async () => {
          await ledger.close();
          await engine.close();
        },
      });
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}
