import { afterAll, describe, expect, it } from 'vitest';
import { openWorkshop, policyYaml } from '../../../../test/workshop.js';
import { planClassify, releaseClassify } from './classify.js';
import { type ClassifierWeight, type ClassifyResult, predictRow } from './predict.js';

/** People above 45 count as grown; two rows per id. */
const csv = `id,grown,age,sex,town,one,media\n${Array.from({ length: 3000 }, (_, i) => {
  const age = 18 + (i % 60);
  return `p${i >> 1},${i % 50 === 0 ? '' : age > 45 ? 'yes' : 'no'},${age},${i % 3 === 0 ? 'm' : 'f'},t${i % 4},only,tv`;
}).join('\n')}\n`;
const yaml = (more: Parameters<typeof policyYaml>[0] = {}) =>
  policyYaml(more).replace(
    /columns:[\s\S]*$/,
    `columns:
  grown: { type: category, values: ["yes", "no"] }
  age: { type: integer, bounds: [17, 90] }
  sex: { type: category, values: [m, f] }
  town: { type: category, values: [t0, t1, t2, t3] }
  one: { type: category, values: [only] }
  media: { type: multi, values: [tv, web], separator: ";" }
`,
  );
const shops: { remove(): void }[] = [];
async function open(more: Parameters<typeof policyYaml>[0] = {}) {
  const shop = openWorkshop(yaml(more));
  shops.push(shop);
  shop.write('people.csv', csv);
  return shop.session();
}
afterAll(() => {
  for (const shop of shops) shop.remove();
});
const ask = { label: 'grown', positive: ['yes'], features: ['age', 'sex', 'town'] };

describe('the release of a classifier', () => {
  it('a release trains the classifier, states its promise, spends once and answers again from the record', async () => {
    const session = await open({ budget: '{ epsilon: 4, delta: 1e-6 }' });
    const plan = await planClassify(session, ask, { epsilon: '3' });
    expect(plan.epsilon).toBe(3);
    const { result, receipt } = await releaseClassify(session, ask, { epsilon: '3' });
    expect(receipt.guarantee.certified).toBe(true);
    expect(result.features).toEqual(['age', 'sex', 'town']);
    expect(result.weights.map((w) => w.kind)).toEqual(['number', 'sign', 'level', 'level', 'level', 'level']);
    expect(predictRow(result, { age: 75, sex: 'm', town: 't1' }).positive).toBe(true);
    expect(predictRow(result, { age: 20, sex: 'f', town: null }).positive).toBe(false);
    expect(predictRow(result, { age: 75 }).probability).toBeGreaterThan(0.5);
    const again = await releaseClassify(session, ask, { epsilon: '3' });
    expect(again.receipt.ledger.replayed).toBe(true);
    expect(again.result).toEqual(result);
    await expect(releaseClassify(session, { ...ask, model: 'svm' }, { epsilon: '3' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    await session.close();
  });

  it('a recorded answer of version 0.2 gets back the bounds of its number columns', async () => {
    const session = await open({ budget: '{ epsilon: 4 }' });
    const request = { ...ask, method: 'output' };
    const { result } = await releaseClassify(session, request, { epsilon: '3' });
    const analyse = session.analyse.bind(session);
    // Version 0.2 recorded the ends of the interval as low and high.
    const old = (w: ClassifierWeight) => ({ ...w, interval: undefined, low: w.interval![0], high: w.interval![1] });
    session.analyse = async (analysis) => {
      const answered = await analyse<ClassifyResult>(analysis as never);
      return { ...answered, result: { ...answered.result, weights: answered.result.weights.map(old) } as never };
    };
    const again = await releaseClassify(session, request, { epsilon: '3' });
    expect(again.result.weights[0]).toMatchObject({ kind: 'number', low: 17, high: 90 });
    for (const [k, w] of again.result.weights.entries()) expect(w.interval![1]).toBeCloseTo(result.weights[k]!.interval![1], 9);
    const row = { age: 33, sex: 'm', town: 't2' };
    expect(predictRow(again.result, row)).toEqual(predictRow(result, row));
    await session.close();
  });

  it('the plan depends on public numbers only, whatever the rows contain', async () => {
    const session = await open({ budget: '{ epsilon: 1 }' });
    const shop = openWorkshop(yaml({ budget: '{ epsilon: 1 }' }));
    shops.push(shop);
    shop.write('people.csv', csv.replaceAll(',yes,', ',no,').replaceAll(',m,', ',f,'));
    const other = await shop.session();
    for (const method of ['auto', 'output', 'sgd', 'tilt'] as const) {
      const plans = await Promise.all([session, other].map((s) => planClassify(s, { ...ask, method })));
      expect(plans[0]).toEqual(plans[1]);
    }
    await session.close();
    await other.close();
  });

  it('a plan with group ties has more noise for the same promise', async () => {
    const scale = async (dependence: string) => {
      const session = await open({ budget: '{ epsilon: 1 }', dependence });
      const plan = await planClassify(session, { ...ask, method: 'output', regularisation: 0.01 });
      await session.close();
      return plan.measures[0]!.error95!;
    };
    const [alone, tied] = [await scale('none'), await scale('[{ kind: groups, by: id, oddsRatio: inf, maxSize: 5 }]')];
    expect(tied / alone).toBeCloseTo(5, 1);
  });

  it('a plan counts persons: the noise covers all rows of a person, and n is the number of persons', async () => {
    const session = await open({ protect: '{ secret: person, unit: id, maxRows: 2 }' });
    const { measures } = await planClassify(session, { ...ask, method: 'output', regularisation: 0.01 }, { epsilon: '1' });
    // 1500 persons of two rows: sensitivity 2 x 2 / (1500 x 0.01), seven weights.
    const reach = ((2 * 2) / (1500 * 0.01)) * Math.sqrt(7);
    expect(measures[0]!.error95! / (reach * Math.log(20))).toBeCloseTo(1, 1);
    await session.close();
  });

  it('feature selection is a paid step that keeps fewer features', async () => {
    const session = await open({ budget: '{ epsilon: 10 }' });
    const { result, receipt } = await releaseClassify(session, { ...ask, select: { keep: 1, share: 0.3 } }, { epsilon: '9' });
    expect(result.features).toEqual(['age']);
    expect(receipt.profile.perRecord['*']).toBe('9');
    expect(receipt.measures[0]!.name).toBe('choice of features');
    await session.close();
  });

  it('objective perturbation is labelled as published and not certified', async () => {
    const session = await open({ budget: '{ epsilon: 10 }' });
    await expect(planClassify(session, { ...ask, method: 'objective' })).rejects.toMatchObject({ code: 'NOT_PRIVATE' });
    const { receipt } = await releaseClassify(session, { ...ask, method: 'objective', asPublished: true });
    expect(receipt.guarantee.certified).toBe(false);
    await session.close();
  });

  it('requests that cannot be learned are refused before anything is spent or read', async () => {
    const session = await open();
    const wrong: [object, string][] = [
      [{ ...ask, features: ['agee'] }, 'COLUMN_UNKNOWN'],
      [{ ...ask, label: 'nothing' }, 'COLUMN_UNKNOWN'],
      [{ ...ask, positive: ['maybe'] }, 'VALUE_UNKNOWN'],
      [{ ...ask, positive: ['yes', 'no'] }, 'QUERY_INVALID'],
      [{ ...ask, label: 'one', positive: ['only'] }, 'QUERY_INVALID'],
      [{ ...ask, features: ['grown'] }, 'QUERY_INVALID'],
      [{ ...ask, features: ['age', 'age'] }, 'QUERY_INVALID'],
      [{ ...ask, features: ['media'] }, 'QUERY_INVALID'],
      [{ ...ask, label: 'age', positive: ['20'] }, 'QUERY_INVALID'],
      [{ ...ask, regularisation: 0 }, 'QUERY_INVALID'],
      [{ ...ask, select: { keep: 9 } }, 'QUERY_INVALID'],
      [{ ...ask, bogus: 1 }, 'QUERY_INVALID'],
      [{}, 'QUERY_INVALID'],
    ];
    for (const [request, code] of wrong) await expect(releaseClassify(session, request)).rejects.toMatchObject({ code });
    expect((await session.spent()).pure.perRecord.size).toBe(0);
    await session.close();
  });
});
