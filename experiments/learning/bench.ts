import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Examples, readExamples } from '../../src/analysis/learn/classify/examples.js';
import { type FeatureMap, mapFeatures, unit } from '../../src/analysis/learn/classify/features.js';
import { margin } from '../../src/analysis/learn/classify/gradient.js';
import { huberHinge, logistic } from '../../src/analysis/learn/classify/loss.js';
import { minimise } from '../../src/analysis/learn/classify/minimise.js';
import { type ClassifyResult, predictRow } from '../../src/analysis/learn/classify/predict.js';
import { parseClassify } from '../../src/analysis/learn/classify/request.js';
import { openEngine } from '../../src/data/terms/open.js';
import { readPolicy } from '../../src/data/terms/read.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { createSession, type PrivacySession } from '../../src/release/session/session.js';
import { aboveMajority } from '../above-majority.js';

export type Row = Readonly<Record<string, string>>;
/** Training rows, test rows, and the declarations of a steward: nothing of it computed from the rows. */
export interface Task {
  readonly name: string;
  readonly train: readonly Row[];
  readonly test: readonly Row[];
  /** As in a policy. */
  readonly columns: string;
  readonly ask: { readonly label: string; readonly positive: readonly string[]; readonly features: readonly string[] };
}

/** The same task with few training rows, spread over all of them. */
export const few = (task: Task, rows: number): Task => ({
  ...task,
  name: `${task.name}, ${rows} rows`,
  train: Array.from({ length: rows }, (_, k) => task.train[Math.floor((k * task.train.length) / rows)]!),
});

export interface Bench {
  readonly task: Task;
  /** Accuracy of a classifier on the test rows. */
  accuracy(result: ClassifyResult): number;
  /** True class of each test row. */
  readonly truth: readonly boolean[];
  /** The rows as a classifier sees them. */
  examples(): Promise<{ readonly map: FeatureMap; readonly train: Examples; readonly test: Examples }>;
  /** Accuracy of the best weights without any privacy; an error where the majority class does better. */
  plain(model: 'logistic' | 'svm', regularisation: number): Promise<number>;
  /** The rows as features in -1 .. 1, in files that a peer reads. */
  matrices(): Promise<Matrices>;
  /** A fresh population with its own ledger. */
  session(budget: string, dependence?: string): Promise<PrivacySession & { close(): Promise<void> }>;
  remove(): void;
}

export interface Matrices {
  readonly columns: number;
  /** No row is longer. */
  readonly norm: number;
  readonly train: string;
  readonly trainLabels: string;
  readonly test: string;
  readonly testLabels: string;
}

export function openBench(task: Task): Bench {
  const { train, test, ask } = task;
  const truth = test.map((row) => ask.positive.includes(row[ask.label]!));
  const place = mkdtempSync(join(tmpdir(), 'fugu-learning-'));
  const kept = [...ask.features, ask.label];
  // People with the same profile (every feature but the label) are alike: the column `profile` names them.
  const profile = (row: Row) => ask.features.map((name) => row[name]).join('|');
  const table = (file: string, rows: readonly Row[]) =>
    writeFileSync(
      join(place, file),
      `${[...kept, 'profile'].join(',')}\n${rows.map((row) => [...kept.map((name) => row[name]), profile(row)].join(',')).join('\n')}\n`,
    );
  table('train.csv', train);
  table('test.csv', test);
  let count = 0;
  const write = (budget: string, dependence: string, source = 'train.csv'): string => {
    const file = join(place, `policy-${++count}.yaml`);
    writeFileSync(
      file,
      `data: { source: ${source} }\nprotect: { secret: row }\nbudget: ${budget}\npopulation: people-${count}\nledger: ledger-${count}.db\ndependence: ${dependence}\ncolumns:${task.columns}`,
    );
    return file;
  };
  const read = async (source: string): Promise<{ map: FeatureMap; rows: Examples }> => {
    const policy = await readPolicy(write('{ epsilon: 1 }', 'none', source));
    const engine = await openEngine(policy);
    const map = mapFeatures(policy, parseClassify(ask));
    const rows = (await readExamples(await engine.snapshot(), policy, map)).open();
    await engine.close();
    return { map, rows };
  };
  const examples: Bench['examples'] = async () => {
    const { map, rows } = await read('train.csv');
    return { map, train: rows, test: (await read('test.csv')).rows };
  };
  return {
    task,
    accuracy: (result) => test.filter((row, k) => predictRow(result, row).positive === truth[k]).length / test.length,
    truth,
    examples,
    async plain(model, regularisation) {
      const { map, train: rows, test: held } = await examples();
      const loss = model === 'logistic' ? logistic : huberHinge(0.5);
      const w = minimise({ examples: rows, loss, records: rows.count, radius: map.radius, regularisation }, 1e-9);
      let hits = 0;
      for (let i = 0; i < held.count; i++) if (margin(held, map.radius, w, i) > 0) hits++;
      return aboveMajority(hits / held.count, truth, `${task.name}, ${model}`);
    },
    async matrices() {
      const { map, train: learn, test: judge } = await examples();
      const save = (name: string, { count: rows, slots, width, entry, value, label }: Examples) => {
        // The peer fits an intercept itself.
        const dense = new Float64Array(rows * (width - 1));
        for (let i = 0; i < rows; i++)
          for (let at = i * slots + 1; at < (i + 1) * slots; at++) dense[i * (width - 1) + entry[at]! - 1] = value[at]! / unit;
        writeFileSync(join(place, `${name}.f64`), dense);
        writeFileSync(join(place, `${name}.i8`), label);
        return { file: join(place, `${name}.f64`), labels: join(place, `${name}.i8`) };
      };
      const [a, b] = [save('train', learn), save('test', judge)];
      return {
        columns: map.width - 1,
        norm: Math.sqrt(ask.features.length),
        train: a.file,
        trainLabels: a.labels,
        test: b.file,
        testLabels: b.labels,
      };
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
