import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { seeded } from '../experiments/coverage/world.js';
import type { AnswerTable, ClassifyResult } from '../src/index.js';
import { open, predict } from '../src/index.js';

interface Person {
  readonly age: number;
  readonly wage: number;
  readonly sex: string;
  readonly town: string;
  readonly rich: string;
}

/** People above the line through age and wage are rich; the domain's bounds are far from -1 and 1, and the range of ages lies on one side of its middle. */
function people(rows: number, seed: number): Person[] {
  const random = seeded(seed);
  return Array.from({ length: rows }, () => {
    const age = 18 + Math.floor(60 * random());
    const wage = 1000 + Math.floor(8000 * random());
    return {
      age,
      wage,
      sex: random() < 0.5 ? 'm' : 'f',
      town: `t${Math.floor(4 * random())}`,
      rich: 100 * age + wage > 9500 ? 'yes' : 'no',
    };
  });
}
const [train, fresh] = [people(20_000, 1), people(2000, 2)];
const names = ['age', 'wage', 'sex', 'town', 'rich'] as const;
const majority = Math.max(...['yes', 'no'].map((code) => fresh.filter((p) => p.rich === code).length)) / fresh.length;

const places: string[] = [];
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});
function policyFile(budget: string, more = ''): string {
  const place = mkdtempSync(join(tmpdir(), 'fugu-classifier-'));
  places.push(place);
  writeFileSync(
    join(place, 'people.csv'),
    `${names.join(',')}\n${train.map((p) => names.map((n) => p[n]).join(',')).join('\n')}\n`,
  );
  writeFileSync(
    join(place, 'policy.yaml'),
    `data: { source: people.csv }
protect: { secret: row }
budget: ${budget}
population: town
ledger: ledger.db
dependence: none
columns:
  age: { type: integer, bounds: [10, 90] }
  wage: { type: integer, bounds: [0, 10000]${more} }
  sex: { type: category, values: [m, f] }
  town: { type: category, values: [t0, t1, t2, t3] }
  rich: { type: category, values: ["yes", "no"] }
`,
  );
  return join(place, 'policy.yaml');
}

const label = { label: 'rich', positive: ['yes'] };
const accuracy = (model: ClassifyResult): number =>
  fresh.filter((p) => predict(model, { ...p }).positive === (p.rich === 'yes')).length / fresh.length;
/** A released model by way of a file. */
function throughFile(result: ClassifyResult): ClassifyResult {
  const file = join(places.at(-1)!, 'model.json');
  writeFileSync(file, JSON.stringify(result));
  return JSON.parse(readFileSync(file, 'utf8')) as ClassifyResult;
}
async function released(budget: string, ask: object, more = ''): Promise<ClassifyResult> {
  const fugu = await open(policyFile(budget, more));
  try {
    const { result } = await fugu.release({ classify: { ...label, ...ask } as never }, { epsilon: 20 });
    return result as ClassifyResult;
  } finally {
    await fugu.close();
  }
}

const methods = [
  ['auto', '{ epsilon: 20 }'],
  ['auto', '{ epsilon: 20, delta: 1e-6 }'],
  ['output', '{ epsilon: 20 }'],
  ['output', '{ epsilon: 20, delta: 1e-6 }'],
  ['sgd', '{ epsilon: 20 }'],
  ['sgd', '{ epsilon: 20, delta: 1e-6 }'],
  ['tilt', '{ epsilon: 20 }'],
  ['objective', '{ epsilon: 20 }'],
] as const;

describe('a released classifier, stored in a file and read back', () => {
  for (const model of ['logistic', 'svm'] as const)
    for (const [method, budget] of methods)
      it(`the classifier predicts fresh rows well above the majority class: ${model}, ${method}, ${budget}`, async () => {
        const ask = { model, method, ...(method === 'objective' && { asPublished: true }) };
        for (const [features, more] of [
          [['age', 'wage'], ''],
          [['age', 'wage', 'sex', 'town'], ''],
          [['age', 'wage', 'sex'], ', bins: [2000, 4000, 6000, 8000]'],
        ] as const) {
          const stored = throughFile(await released(budget, { ...ask, features }, more));
          expect(majority).toBeLessThan(0.6);
          expect([features, accuracy(stored) > 0.85]).toEqual([features, true]);
        }
      });

  it('the file holds the bounds of a number column and the confidence interval of its weight in separate fields', async () => {
    const { weights, interceptInterval } = await released('{ epsilon: 20 }', { method: 'output', features: ['age', 'sex'] });
    const [age, sex] = weights;
    expect(age).toMatchObject({ kind: 'number', low: 10, high: 90 });
    const half = (interceptInterval![1] - interceptInterval![0]) / 2;
    for (const weight of [age!, sex!]) {
      expect(weight.interval![0]).toBeCloseTo(weight.weight - half, 9);
      expect(weight.interval![1]).toBeCloseTo(weight.weight + half, 9);
    }
    expect(sex).not.toHaveProperty('low');
  });
});

/** The form of version 0.2: the ends of the interval in `low` and `high`. */
const asStoredBy02 = (result: ClassifyResult): ClassifyResult => ({
  ...result,
  weights: result.weights.map(({ interval, ...weight }) => ({ ...weight, low: interval![0], high: interval![1] })),
});

describe('a classifier that version 0.2 stored', () => {
  it('a classifier without the bounds of a number column is refused, and the fault explains how to recover them', async () => {
    const old = asStoredBy02(await released('{ epsilon: 20 }', { method: 'output', features: ['age', 'sex'] }));
    expect(() => predict(throughFile(old), { age: 40 })).toThrowError(
      expect.objectContaining({ code: 'MODEL_INVALID', hint: expect.stringContaining('recorded answer') }),
    );
  });

  it('a classifier without number columns, or without intervals, is used as it stands', async () => {
    const ask = { features: ['wage', 'sex'] };
    const binned = await released('{ epsilon: 20 }', { ...ask, method: 'output' }, ', bins: [2000, 4000, 6000, 8000]');
    const tilted = await released('{ epsilon: 20 }', { ...ask, method: 'tilt' });
    expect(predict(asStoredBy02(binned), { wage: 7000 })).toEqual(predict(binned, { wage: 7000 }));
    expect(predict(tilted, { wage: 9000 }).score).toBeGreaterThan(predict(tilted, { wage: 1000 }).score);
  });
});

describe('a released regression, stored in a file and read back', () => {
  it('the regression predicts fresh rows', async () => {
    const fugu = await open(policyFile('{ epsilon: 20 }'));
    const cases = [
      { when: { column: 'rich', op: 'in', values: ['yes'] }, value: 1 },
      { when: { column: 'rich', op: 'present' }, value: 0 },
    ];
    const { tables } = (await fugu.release(
      { kind: 'regression', outcome: 'is_rich', on: ['age', 'wage'], derive: { is_rich: { cases } } } as never,
      { epsilon: 20 },
    )) as unknown as { tables: readonly AnswerTable[] };
    await fugu.close();
    const file = join(places.at(-1)!, 'regression.json');
    writeFileSync(file, JSON.stringify(tables));
    const [table] = JSON.parse(readFileSync(file, 'utf8')) as AnswerTable[];
    const [constant, age, wage] = table!.rows.map((row) => row.value!);
    const right = fresh.filter((p) => constant! + age! * p.age + wage! * p.wage > 0.5 === (p.rich === 'yes')).length;
    expect(right / fresh.length).toBeGreaterThan(0.9);
  });
});
