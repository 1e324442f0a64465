import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import type { Cell } from '../src/data/engine/engine.js';
import { exactLoss } from '../src/evaluate/audit/exact-loss.js';
import { amendTerms, checkPolicy, open } from '../src/index.js';
import type { Policy } from '../src/policy/policy.js';
import type { JointDistribution } from '../src/privacy/dependence/model/joint.js';
import { bindBatch } from '../src/query/bind.js';
import type { Measure } from '../src/query/count/measure.js';
import { rowCounter } from '../src/query/count/row-counter.js';
import { parseBatch } from '../src/query/parse.js';
import { readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const withKnown = (known: string, more: Parameters<typeof policyYaml>[0] = {}) =>
  policyYaml({ ...more, extra: `known: ${known}\n` });
const margin = '[{ margin: [party] }]';
const party = { kind: 'histogram', column: 'party' } as const;
const age = { kind: 'histogram', column: 'age' } as const;
const refused = (work: Promise<unknown>) => work.then(() => undefined, (error: unknown) => error as { code: string; message: string }); // biome-ignore format: one line
const release = async (query: object, epsilon = 0.5, fresh = false) => {
  await using fugu = await open(shop.policyFile);
  return await fugu.release(query as typeof party, { epsilon, fresh });
};
const planned = async (query: object, epsilon = 0.5) => {
  await using fugu = await open(shop.policyFile);
  return await fugu.plan(query as typeof party, { epsilon });
};

describe('totals that everybody knows', () => {
  it('known totals are returned without noise at no cost, and marked so', async () => {
    shop = openWorkshop(withKnown(margin), 240);
    const { tables, receipt } = await release(party);
    expect(tables[0]!.rows.map(({ value }) => value)).toEqual([60, 60, 60, 60]);
    expect([receipt.epsilon, receipt.mechanism, receipt.why]).toEqual([0, 'none', 'No noise: known.']);
    expect(receipt.guarantee.known).toEqual(['how many rows there are by party']);
    const words = receipt.guarantee.sentences.join(' ');
    expect(words).toContain('who knows how many rows there are by party exactly and takes records for independent otherwise');
    expect(words).toContain('neighbouring data sets: up to 4 records at once replaced by others with the same totals');
    const { budget } = await planned(age);
    expect(budget.spent).toBe(0);
  });

  it('the noise covers all records that change at once, and no more for questions about one cell', async () => {
    shop = openWorkshop(policyYaml(), 240);
    const plain = await planned(age);
    shop.remove();
    shop = openWorkshop(withKnown(margin), 240);
    const [all, one] = [await planned(age), await planned({ ...age, where: [{ column: 'party', op: '=', value: 'dem' }] })];
    const width = (plan: typeof all) => plan.errors[0]!.halfWidth;
    expect(width(all) / width(plain)).toBeCloseTo(4, 0);
    expect(width(one)).toBe(width(plain));
    expect(all.guarantee.sentences[0]).toMatch(/Protected: one row/);
  });

  it('questions about different cells of a public column do not share a budget under known totals', async () => {
    const base = withKnown(margin).replace(
      '{ type: integer, bounds: [17, 90] }',
      '{ type: integer, bounds: [17, 90], public: true }',
    );
    shop = openWorkshop(base, 240);
    const young = { ...party, kind: 'count', where: [{ column: 'age', op: '<', value: 30 }] };
    const { column: _, ...query } = young;
    await release(query, 0.5);
    const other = await planned({ ...query, where: [{ column: 'age', op: '>=', value: 30 }] });
    expect([other.budget.spent, other.parts]).toEqual([0.5, undefined]);
  });

  it('noisy tables agree with known totals', async () => {
    shop = openWorkshop(withKnown(margin), 240);
    const { tables } = await release([{ kind: 'crosstab', columns: ['party', 'age'] }, age], 0.5);
    const sums = new Map<string, number>();
    for (const { keys, value } of tables[0]!.rows) sums.set(keys[0]!, (sums.get(keys[0]!) ?? 0) + value!);
    expect([...sums.values()]).toEqual([60, 60, 60, 60]);
    expect(tables[1]!.rows.reduce((sum, { value }) => sum + value!, 0)).toBe(240);
  });

  it('known totals are returned as published for any data; only a private check compares them', async () => {
    shop = openWorkshop(withKnown('[{ margin: party, values: published.csv }]'), 240);
    writeFileSync(join(shop.folder, 'published.csv'), 'party,people\ndem,61\nrep,59\nother,60\n,60\n');
    expect((await release(party)).tables[0]!.rows.map(({ value }) => value)).toEqual([61, 59, 60, 60]);
    const found = await checkPolicy(shop.policyFile, { private: true });
    expect(found.private!.known).toEqual([{ total: 'how many rows there are by party', different: 2 }]);
    expect((await checkPolicy(shop.policyFile)).private).toBeUndefined();
    shop.write('published.csv', 'party,people\ndem,60\nrep,60\nother,60\n,60\n');
    expect((await checkPolicy(shop.policyFile, { private: true })).private!.known![0]!.different).toBe(0);
  });

  it('a correction of known totals needs no amendment; no longer returning them as published does', async () => {
    const as = (values: string) => withKnown(`[{ margin: party${values} }]`);
    const published = (dem: number) => as(`, values: { dem: ${dem}, rep: 60, other: 60 }`);
    shop = openWorkshop(published(61), 240);
    await release(party);
    shop.write('policy.yaml', published(60));
    expect((await release(party, 0.5, true)).tables[0]!.rows[0]!.value).toBe(60);
    shop.write('policy.yaml', as(''));
    expect(await refused(release(party))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    await amendTerms(shop.policyFile, { reason: 'the numbers of the data are told' });
    expect((await release(party, 0.5, true)).tables[0]!.rows[3]!.value).toBe(60);
  });

  it('examples explain known totals', async () => {
    shop = openWorkshop(withKnown(margin), 24);
    const { explanation, known } = await checkPolicy(shop.policyFile);
    const text = explanation.map((line) => line.text).join('\n');
    expect(text).toContain("may not tell: whose: somebody's party, dem and another's rep from the other way round.");
    expect(text).toContain('may learn: how many rows there are by party (known, and released without noise).');
    expect(known!.together).toBe(4);
  });

  it('known totals belong to the terms: no cost reserved with or without them is carried over', async () => {
    shop = openWorkshop(withKnown(margin), 240);
    await release(age, 0.1);
    shop.write('policy.yaml', policyYaml());
    expect(await refused(release(age, 0.1))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    expect(await refused(amendTerms(shop.policyFile, { reason: 'x' }))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    shop.write('policy.yaml', withKnown('[{ margin: [party, age] }]'));
    expect(await refused(amendTerms(shop.policyFile, { reason: 'x' }))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    // A cost per row covers a step; a cost with known totals covers nothing else.
    const steps = '[{ kind: sequence, by: id, order: age, state: party, transition: next.json }]';
    shop.write('next.json', '[[0.5,0.25,0.25],[0.25,0.5,0.25],[0.25,0.25,0.5]]');
    shop.write('policy.yaml', policyYaml({ protect: '{ secret: step }', dependence: steps }));
    expect((await refused(amendTerms(shop.policyFile, { reason: 'x' })))!.message).toContain('cannot be counted for "step"');
    shop.write('policy.yaml', withKnown(margin, { budget: '{ epsilon: 2 }' }));
    await amendTerms(shop.policyFile, { reason: 'more' });
    expect((await planned(age)).budget.total).toBe(2);
  });

  it('known totals work with replaced rows that are not tied, and with tables', async () => {
    for (const [more, why] of [
      [{ protect: '{ secret: person, unit: id, maxRows: 2 }' }, 'secret "person"'],
      [{ protect: '{ secret: answer }' }, 'secret "answer"'],
      [{ protect: '{ secret: row, neighbours: add-remove }' }, 'added or removed'],
      [{ protect: '{ secret: row, pairs: { age: { within: 5 } } }' }, 'pairs of values'],
      [{ dependence: '[{ kind: groups, by: home }]' }, 'ties every record'],
    ] as const) {
      shop = openWorkshop(withKnown(margin, more), 24);
      expect((await refused(checkPolicy(shop.policyFile)))!.message).toContain(why);
      shop.remove();
    }
    shop = openWorkshop(withKnown(margin), 240);
    await using fugu = await open(shop.policyFile);
    const found = await refused(fugu.plan({ kmeans: { columns: ['age'], clusters: 2 } } as never));
    expect(found!.message).toContain('beside known totals several change at once');
  });
});

/** Every answer of a batch with the known margin, attacked by enumeration: four rows, any prior, any of them known. */
describe('a published margin', () => {
  const columns = `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 1 }
population: few
ledger: ledger.db
dependence: none
columns:
  region: { type: category, values: [n, s] }
  ill: { type: category, values: [y] }
`;
  const kinds: readonly (readonly [Cell, Cell])[] = ['n', 's', null].flatMap((r) => ['y', null].map((i) => [r, i] as const));
  const rows = 4;
  const states = kinds.length ** rows;
  const at = (state: number) => Array.from({ length: rows }, (_, j) => Math.floor(state / kinds.length ** j) % kinds.length);
  const batch = [
    { kind: 'histogram', column: 'region' },
    { kind: 'histogram', column: 'ill' },
    { kind: 'count', where: [{ column: 'region', op: '=', value: 'n' }], by: ['ill'] },
    { kind: 'crosstab', columns: ['region', 'ill'] },
  ];

  const jointOf = (weights: (j: number, v: number) => number, regionOf: readonly Cell[]): JointDistribution => {
    const wanted = [...regionOf].sort().join();
    const raw = Float64Array.from({ length: states }, (_, s) => {
      const data = at(s);
      if (
        data
          .map((v) => kinds[v]![0])
          .sort()
          .join() !== wanted
      )
        return 0;
      return data.reduce((p, v, j) => p * weights(j, v), 1);
    });
    const sum = raw.reduce((a, b) => a + b, 0);
    return {
      ids: Array.from({ length: rows }, (_, j) => `${j}`),
      values: Array.from({ length: rows }, () => kinds.map((_, v) => v)),
      sizes: Array.from({ length: rows }, () => kinds.length),
      strides: Array.from({ length: rows }, (_, j) => kinds.length ** j),
      probabilities: raw.map((p) => p / sum),
      exactWeights: () => [],
      components: [],
      assumptions: [],
    };
  };

  /** Measures that the product would release, each in units of its noise; exact ones with so little noise that any difference shows. */
  async function released(text: string, query: object, epsilon: string) {
    shop = openWorkshop(text, 24);
    shop.write('people.csv', 'region,ill\nn,y\ns,\n,y\nn,\n');
    const read = await readPolicy(shop.policyFile);
    const session = await shop.session();
    const plan = await session.plan(query, { epsilon });
    await session.close();
    shop.remove();
    const measures = bindBatch(parseBatch(query), read).measures;
    const scales = plan.measures
      .slice(0, measures.length)
      .map(({ noise }) => (noise.kind === 'laplace' ? toNumber(parseRational(noise.scale)) : 1e-3));
    return { read, measures, scales };
  }
  const vectors = (policy: Policy, measures: readonly Measure[], scales: readonly number[]) =>
    Array.from({ length: states }, (_, s) => {
      const counter = rowCounter(measures, ['region', 'ill'], policy);
      const data = at(s).map((v) => kinds[v]!);
      counter.add({ columns: [data.map(([r]) => r), data.map(([, i]) => i)], rows });
      return counter.totals().flatMap((cells, k) => cells.map((x) => Number(x) / scales[k]!));
    });

  const attacked = async (text: string, query: object, epsilon: string, tries: number): Promise<number> => {
    const { read, measures, scales } = await released(text, query, epsilon);
    const all = vectors(read, measures, scales);
    const width = all[0]!.length;
    const points = Float64Array.from(all.flat());
    let seed = 7;
    const next = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    let most = 0;
    for (let t = 0; t < tries; t++) {
      const truth = Array.from({ length: rows }, () => Math.floor(next() * kinds.length));
      // Priors that exclude most values: the possible values decide which records must change together.
      const sharp = t % 2 === 0;
      const own = truth.map((v, j) =>
        kinds.map((_, x) => (x === v ? 1 : sharp ? (x === truth[(j + 1) % rows] ? 1 : 0) : next() < 0.6 ? 0 : next())),
      );
      const joint = jointOf(
        (j, v) => own[j]![v]!,
        truth.map((v) => kinds[v]![0]),
      );
      const { loss } = exactLoss(joint, { width, points, sensitivities: [] }, 1, { adversary: 'informed', limit: 1e12 });
      most = Math.max(most, loss);
    }
    return most;
  };

  it.each(batch.slice(1).map((query) => [JSON.stringify(query), query] as const))(
    'the margin and an answer together do not break the promise: %s',
    async (_, query) => {
      const most = await attacked(`${columns}known: [{ margin: [region] }]\n`, query, '1', 10);
      expect(most).toBeLessThanOrEqual(1 + 1e-9);
      expect(most).toBeGreaterThan(0.3);
    },
  );

  it('the margin and several answers together do not break the promise, exact ones included', async () => {
    const query = [
      batch[0]!,
      batch[1]!,
      {
        kind: 'count',
        where: [
          { column: 'region', op: '=', value: 's' },
          { column: 'ill', op: '=', value: 'y' },
        ],
      },
    ];
    const most = await attacked(`${columns}known: [{ margin: [region] }]\n`, query, '1', 6);
    expect(most).toBeLessThanOrEqual(1 + 1e-9);
  });

  it('a promise with single rows as neighbours is broken: the planted twin is detected', async () => {
    const most = await attacked(columns, batch[1]!, '1', 8);
    expect(most).toBeGreaterThan(1.5);
  });
});

describe('the guide to policies', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'docs', 'how-to', 'policies.md'), 'utf8');
  const part = text.slice(text.indexOf('# Totals that are published already'));
  const [yaml, , shown] = [...part.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);

  it("the policy with known totals passes the guide's examples, with the output shown", async () => {
    shop = openWorkshop(yaml, 1);
    const rows = Array.from({ length: 1000 }, (_, i) => `${i % 50 < 21 ? 'north' : 'south'},${'abc'[i % 3]}`);
    shop.write('people.csv', `region,party\n${rows.join('\n')}\n`);
    const { explanation, private: figures } = await checkPolicy(shop.policyFile, { private: true });
    const lines = explanation.map((line) => line.text);
    for (const line of shown!.trim().split('\n')) expect(lines).toContain(line);
    expect(figures!.known![0]!.different).toBe(0);
    const width = async (query: object) => (await planned(query)).errors[0]!.halfWidth;
    const [whole, cell, known] = [
      await width({ kind: 'histogram', column: 'party' }),
      await width({ kind: 'histogram', column: 'party', where: [{ column: 'region', op: '=', value: 'north' }] }),
      await width({ kind: 'histogram', column: 'region' }),
    ];
    expect([Math.round(whole / cell), known]).toEqual([3, 0]);
  });
});
