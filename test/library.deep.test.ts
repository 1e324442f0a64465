import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { kinds as loaders } from '../src/app/api/kinds.js';
import { parseQuestion } from '../src/app/api/question.js';
import * as library from '../src/index.js';
import {
  type Answer,
  type AnyAnswer,
  Fault,
  type Fugu,
  type KmeansResult,
  open,
  type Question,
  type Release,
  type SurveyRelease,
} from '../src/index.js';
import { readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

const friends = `relations:
  friend: { table: friends.csv, columns: [a, b], domain: 2000, symmetric: true, private: PRIVATE }
`;
let shop: Workshop;
let people: string;
let ties: string;
beforeAll(() => {
  shop = openWorkshop(policyYaml({ budget: '{ epsilon: 20 }' }).replace('people.csv }', 'people.csv, links: [home] }'), 600);
  people = shop.write(
    'public-ties.yaml',
    policyYaml({ budget: '{ epsilon: 20 }', extra: friends.replace('PRIVATE', 'false') }).replace(
      'population: town',
      'population: tied',
    ),
  );
  ties = shop.write(
    'private-ties.yaml',
    policyYaml({ budget: '{ epsilon: 20 }', protect: '{ secret: edge }', extra: friends.replace('PRIVATE', 'true') }).replace(
      'population: town',
      'population: edges',
    ),
  );
  shop.write('friends.csv', `a,b\n${Array.from({ length: 500 }, (_, i) => `p${i},p${(i * 7 + 1) % 600}`).join('\n')}\n`);
});
afterAll(() => shop.remove());

const kinds = await Promise.all(Object.values(loaders).map((load) => load()));

describe('every kind of query', () => {
  it('every kind is loaded by its name', () => expect(kinds.map(({ name }) => name)).toEqual(Object.keys(loaders)));

  it.each(kinds.map((kind) => [kind.name] as const))(
    'the kind %s has an example that plans, fits, is paid for, and is answered from the record',
    async (name) => {
      let count = 0;
      for (const file of [shop.policyFile, people, ties]) {
        const kind = kinds.find((k) => k.name === name)!;
        const example = kind.example(await readPolicy(file)) as Question | undefined;
        if (example === undefined) continue;
        count++;
        expect((await parseQuestion(example)).kind.name).toBe(name);
        await using fugu = await open(file);
        const before = (await fugu.spent()).budget.spent;
        const plan = await fugu.plan(example, { epsilon: 1 });
        expect(plan).toMatchObject({ fits: true, epsilon: 1 });
        expect((await fugu.spent()).budget.spent).toBe(before);
        const answer = await fugu.release(example, { epsilon: 1 });
        expect(answer.receipt.ledger.replayed).toBe(false);
        expect((await fugu.spent()).budget.spent).toBeGreaterThan(before);
        expect(structuredClone(answer)).toEqual(answer);
        const again = await fugu.release(example, { epsilon: '1' });
        expect(again.receipt.ledger).toMatchObject({ replayed: true, entry: answer.receipt.ledger.entry });
      }
      expect(count).toBeGreaterThan(0);
    },
  );

  it('a query in two forms at once, or with an unknown field, is refused', async () => {
    await using fugu = await open(shop.policyFile);
    const release = (question: unknown) =>
      fugu.release(question as Question).then(
        () => 'answered',
        (error: unknown) => error,
      );
    expect(await release({ sql: 'SELECT COUNT(*) FROM people', survey: true })).toMatchObject({ code: 'QUERY_INVALID' });
    expect(await release({ kmeans: { columns: ['age'], clusters: 2 }, epsilon: 1 })).toMatchObject({
      code: 'QUERY_INVALID',
      message: expect.stringContaining('epsilon'),
      outcome: { state: 'not spent' },
    });
    expect(await release({ kmeans: { columns: ['age'], clusters: 0 } })).toMatchObject({
      message: expect.stringMatching(/^clusters/),
    });
    expect(await release({ survey: false })).toMatchObject({ code: 'QUERY_INVALID' });
  });
});

describe('an opened policy', () => {
  it('an opened policy exposes only functions, and is closed once', async () => {
    const fugu = await open(shop.policyFile);
    expect(Object.values(fugu).every((value) => typeof value === 'function')).toBe(true);
    expect(await fugu.verify()).toMatchObject({ ok: true });
    expect(await fugu.entries()).toEqual(JSON.parse(JSON.stringify(await fugu.entries())));
    await fugu.close();
    await fugu.close();
    for (const late of [
      fugu.plan({ survey: true }),
      fugu.release({ kind: 'count' }),
      fugu.spent(),
      fugu.entries(),
      fugu.verify(),
    ])
      await expect(late).rejects.toMatchObject({ name: 'Fault', code: 'USAGE', message: 'This policy was closed.' });
  });

  it('an opened policy answers with the type of the request, also for the type checker', async () => {
    const typed = async (fugu: Fugu, any: Question) => {
      expectTypeOf(await fugu.release({ kind: 'count', by: ['party'] })).toEqualTypeOf<Release>();
      expectTypeOf(await fugu.release({ survey: true })).toEqualTypeOf<SurveyRelease>();
      expectTypeOf((await fugu.release({ kmeans: { columns: ['age'], clusters: 2 } })).result).toEqualTypeOf<KmeansResult>();
      expectTypeOf(await fugu.release({ kmeans: { columns: ['age'], clusters: 2 } })).toExtend<Answer<KmeansResult>>();
      expectTypeOf(await fugu.release(any)).toEqualTypeOf<AnyAnswer>();
      // @ts-expect-error a count has no column
      await fugu.release({ kind: 'count', column: 'age' });
      // @ts-expect-error epsilon belongs to the options
      await fugu.release({ survey: true, epsilon: 1 });
    };
    expect(typed).toBeTypeOf('function');
  });
});

class Trick {
  kind = 'count';
}
const cyclic: Record<string, unknown> = { kind: 'count' };
cyclic.by = [cyclic];
const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => ({ by: inner }), 1);
const throwing = {
  get kind(): string {
    throw new TypeError('never told');
  },
};
/** Wrong arguments that JavaScript permits; each made anew, because a promise may be inspected once. */
const wrong = (): readonly unknown[] => [
  undefined,
  null,
  true,
  0,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  Symbol('wrong'),
  '',
  ' ',
  'no-such-file',
  'a\0b',
  '\ud800',
  () => 1,
  class {},
  [],
  [[]],
  {},
  cyclic,
  [cyclic],
  deep,
  throwing,
  Object.create(null),
  Object.create({ kind: 'count' }),
  new Trick(),
  new Proxy(
    {},
    {
      ownKeys: () => {
        throw new RangeError('never told');
      },
    },
  ),
  new Proxy([], {
    get: () => {
      throw new RangeError('never told');
    },
  }),
  JSON.parse('{"__proto__":{"kind":"count"},"constructor":1}'),
  { toString: () => 'policy.yaml' },
  { toJSON: () => ({ kind: 'count' }) },
  new Map([['kind', 'count']]),
  new Set([1]),
  new Date(),
  /x/,
  new Error('x'),
  new Uint8Array(4),
  new URL('http://localhost/x'),
  Promise.resolve({ kind: 'count' }),
  // biome-ignore lint/suspicious/noThenProperty: this is what is tried
  { then: (done: (x: unknown) => void) => done('policy.yaml') },
  new WeakMap(),
  globalThis,
  { kind: 'count', by: 1n },
  { kind: 'count', by: [Symbol('x')] },
  { kind: Symbol('x') },
  { sql: 1 },
  { sql: null },
  { survey: 'yes' },
  { pattern: {} },
  { kmeans: null },
  { classify: () => 1 },
  { queries: cyclic },
  { network: 1 },
  { spread: [] },
  { odds: 'x' },
  { epsilon: {} },
  { epsilon: Symbol('x') },
  { epsilon: -1 },
  { epsilon: 'a lot' },
  { epsilon: 1n },
  { tidy: 'yes' },
  { label: '' },
  { out: 7 },
  { columns: [1] },
  { question: undefined },
  { query: 7 },
  { query: 'sum', scale: 'x' },
  { reason: '' },
  { progress: 1 },
  { release: 3 },
];

/** Its sentence when it ends in a fault; what else it does is a finding. */
async function ending(call: () => unknown): Promise<string> {
  try {
    await call();
    return 'answered';
  } catch (error) {
    if (!(error instanceof Fault)) return `no fault: ${String(error)}`;
    return error.code === 'INTERNAL' ? 'INTERNAL' : error.message.length > 10 ? 'fault' : `no sentence: ${error.message}`;
  }
}

describe('a caller from JavaScript', () => {
  // A wrong name of a file may be the right name of a new one.
  const home = process.cwd();
  beforeAll(() => process.chdir(shop.folder));
  afterAll(() => process.chdir(home));

  const functions = Object.entries(library).filter(([name, value]) => typeof value === 'function' && name !== 'Fault') as [
    string,
    (...args: unknown[]) => unknown,
  ][];

  it('the test finds every command', () => expect(functions.length).toBeGreaterThan(25));

  it.each(functions)('the function %s ends in a fault for any wrong argument', async (name, call) => {
    const findings: string[] = [];
    const file = join(shop.folder, 'model.json');
    writeFileSync(
      file,
      JSON.stringify({
        records: [
          { id: 'a', values: [0, 1] },
          { id: 'b', values: [0, 1] },
        ],
        factors: [],
      }),
    );
    const wrongs = wrong().length;
    for (let k = 0; k < wrongs; k++) {
      for (const args of [
        [wrong()[k]],
        [wrong()[k], wrong()[k]],
        [shop.policyFile, wrong()[k]],
        [file, wrong()[k]],
        [file, 'x', wrong()[k]],
      ]) {
        const outcome = await ending(() => call(...args));
        // A right first argument may need no other.
        if (outcome === 'answered' && (args[0] === shop.policyFile || args[0] === file)) continue;
        if (outcome !== 'fault') findings.push(`${name}(${args.map((a) => typeof a).join(', ')}) [${k}]: ${outcome}`);
      }
    }
    expect(findings).toEqual([]);
  });

  it('every function of an opened policy ends in a fault for wrong arguments and options', async () => {
    await using fugu = await open(shop.policyFile);
    const findings: string[] = [];
    const spent = (await fugu.spent()).budget.spent;
    for (const verb of ['plan', 'release'] as const)
      for (let k = 0; k < wrong().length; k++) {
        const count = await ending(() => fugu[verb](wrong()[k] as Question));
        if (count !== 'fault') findings.push(`${verb} question ${k}: ${count}`);
        const options = await ending(() => fugu[verb]({ kind: 'total' } as unknown as Question, wrong()[k] as object));
        if (options !== 'fault') findings.push(`${verb} options ${k}: ${options}`);
      }
    expect(findings).toEqual([]);
    expect((await fugu.spent()).budget.spent).toBe(spent);
  });
});
