import { afterAll, describe, expect, it, vi } from 'vitest';
import { type AnyKind, kinds as loaders } from '../src/app/api/kinds.js';
import { add, compare, divide, multiply, type Rational, rational, subtract, toNumber, zero } from '../src/base/exact/rational.js';
import { distributionText } from '../src/privacy/mechanism/distribution.js';
import type { Mechanism } from '../src/privacy/mechanism/mechanism.js';
import { drawCost } from '../src/privacy/mechanism/mechanism-cost.js';
import type { ObjectiveData } from '../src/privacy/mechanism/objective-perturbation.js';
import { answersTo, everyRecord, type RecordClass, tuplesIn } from '../src/privacy/mechanism/record-class.js';
import type { Rungs } from '../src/privacy/noise/ladder.js';
import type { PrivacySession } from '../src/release/session/session.js';
import { openWorkshop, type Workshop } from './workshop.js';

/**
 * Every kind of question on neighbouring data: inputs of every mechanism are recorded at Payment.release, outputs are held fixed
 * between the worlds, and the privacy loss of the distributions is compared with the ledger. New registry entries are covered.
 */
interface Step {
  readonly mechanism: Mechanism;
  readonly given: unknown;
  readonly out: unknown;
}
const watch = vi.hoisted(() => ({
  steps: [] as Step[],
  replay: undefined as readonly Step[] | undefined,
  after: [] as unknown[],
}));
vi.mock('../src/privacy/mechanism/payment.js', async (original) => {
  const { Payment } = (await original()) as typeof import('../src/privacy/mechanism/payment.js');
  return {
    Payment: class extends Payment {
      override release<In, Out>(mechanism: Mechanism, given: In, noisy: (given: In) => Out): Out {
        const step = watch.replay?.[watch.after.length];
        if (watch.replay && !step) throw new Error('one world draws more often than the other');
        const out = step ? (step.out as Out) : super.release(mechanism, given, noisy);
        if (step) watch.after.push(given);
        else watch.steps.push({ mechanism, given, out });
        if (step) expect(distributionText(mechanism.distribution)).toEqual(distributionText(step.mechanism.distribution));
        return out;
      }
    },
  };
});

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

type Table = Readonly<Record<string, string>>;
interface World {
  readonly name: string;
  readonly policy: string;
  /** File contents, and neighbours of them: the class of the record that was replaced, and the contents then. */
  readonly data: Table;
  readonly neighbours: readonly { readonly of: RecordClass; readonly data: Table }[];
  /** Further examples of every kind. */
  readonly more: readonly unknown[];
  /** The kinds that this policy answers; all when absent. */
  readonly answers?: readonly string[];
}

const header = 'id,party,media,age,income,rich';
interface Person {
  readonly party: string;
  readonly media: string;
  readonly age: number;
  readonly income: number;
  readonly rich: string;
}
const low: Person = { party: 'dem', media: '', age: 17, income: 0, rich: 'no' };
const high: Person = { party: 'other', media: 'tv;web;paper', age: 90, income: 1000, rich: 'yes' };
const crowd = (i: number): Person => ({
  party: ['dem', 'rep', 'other'][i % 3]!,
  media: ['tv', 'tv;web', ''][i % 3]!,
  age: 20 + ((i * 7) % 60),
  income: (i * 137) % 1000,
  rich: i % 2 ? 'yes' : 'no',
});
const line = (id: string, p: Person) => `${id},${p.party},${p.media},${p.age},${p.income},${p.rich}`;
const people = (rows: readonly (readonly [string, Person])[]): Table => ({
  'people.csv': `${header}\n${rows.map(([id, p]) => line(id, p)).join('\n')}\n`,
});
const columns = `columns:
  party: { type: category, values: [dem, rep, other] }
  media: { type: multi, values: [tv, web, paper], separator: ";" }
  age: { type: integer, bounds: [17, 90] }
  income: { type: number, bounds: [0, 1000], step: 0.5 }
  rich: { type: category, values: ["no", "yes"] }
`;
const policyOf = (protect: string, budget: string, rest = columns) => `data: { source: people.csv }
protect: ${protect}
budget: ${budget}
population: town
ledger: ledger.db
dependence: none
design: { effect: 1 }
${rest}`;

const questions = [
  { kind: 'crosstab', columns: ['party', 'media'] },
  {
    queries: [
      { kind: 'quantile', column: 'age', at: [0.25, 0.5] },
      { kind: 'cdf', column: 'age' },
      { kind: 'sum', column: 'income', by: ['media'] },
    ],
  },
  { kind: 'variance', column: 'age' },
  {
    workload: {
      tables: [
        { all: [1, 2], of: ['party', 'rich', 'age'] },
        { by: ['age', 'party', 'rich'], weight: 1 / 2 },
      ],
    },
  },
  { synth: { columns: ['party', 'rich', 'age'], mode: 'mst' } },
  { kmeans: { columns: ['age', 'income'], clusters: 2, variant: 'lloyd' } },
  { kmeans: { columns: ['age'], clusters: 2, variant: 'grid' } },
  { kmeans: { columns: ['age', 'income'], clusters: 2, variant: 'halving' } },
  ...['output', 'sgd', 'tilt'].map((method) => ({
    classify: { label: 'rich', positive: ['yes'], features: ['age', 'party'], method },
  })),
];
/** Sampling for the error estimate needs one row per person. */
const sampled = [
  { kind: 'regression', outcome: 'income', on: ['age', 'rich'] },
  { kind: 'estimate', column: 'age' },
];
const grown = { synth: { columns: ['party', 'rich', 'age'], mode: 'privbayes' } };
const selecting = {
  classify: {
    label: 'rich',
    positive: ['yes'],
    features: ['age', 'party', 'media'].slice(0, 2),
    select: { keep: 1, share: 0.5 },
  },
};

/** `each` rows of one person go from one end of everything to the other; the rest stays. */
function tables(secret: 'row' | 'person', each: number, budget: string): World {
  const rest = Array.from({ length: 24 }, (_, i) => [`p${i + 1}`, crowd(i)] as const);
  const with_ = (p: Person) => people([...Array.from({ length: each }, () => ['p0', p] as const), ...rest]);
  const mixed = [crowd(1), { ...low, party: 'rep', income: 1000 }, { ...high, age: 17 }];
  // Successive years, for transitions.
  const aging = people([...Array.from({ length: each }, (_, k) => ['p0', { ...low, age: 17 + k }] as const), ...rest]);
  return {
    name: `${secret}s of ${each} rows, ${budget}`,
    policy: policyOf(secret === 'row' ? '{ secret: row }' : `{ secret: person, unit: id, maxRows: ${each} }`, budget),
    data: with_(low),
    neighbours: [...[high, ...mixed].map(with_), aging].map((data) => ({ of: everyRecord, data })),
    more: each === 1 ? [...questions, ...sampled, selecting, grown] : questions,
  };
}

/** All rows of one person are present or absent: neighbours no longer have the same number of rows. */
function presence(secret: 'row' | 'person', each: number): World {
  const rest = Array.from({ length: 24 }, (_, i) => [`p${i + 1}`, crowd(i)] as const);
  const with_ = (p: Person) => people([...Array.from({ length: each }, () => ['p0', p] as const), ...rest]);
  const own = secret === 'row' ? 'secret: row' : `secret: person, unit: id, maxRows: ${each}`;
  const mixed = [low, crowd(1), { ...low, party: 'rep', income: 1000 }, { ...high, age: 17 }];
  return {
    name: `${secret}s of ${each} rows that are there or not`,
    policy: policyOf(`{ ${own}, neighbours: add-remove }`, pure),
    data: people(rest),
    neighbours: [high, ...mixed].map((p) => ({ of: everyRecord, data: with_(p) })),
    more: each === 1 ? [...questions, ...sampled] : questions,
    answers: ['queries', 'sql', 'survey', 'workload', 'synth'],
  };
}

function answers(budget: string): World {
  const rest = Array.from({ length: 24 }, (_, i) => [`p${i + 1}`, crowd(i)] as const);
  const with_ = (p: Person) => people([['p0', p], ...rest]);
  return {
    name: `answers, ${budget}`,
    policy: policyOf('{ secret: answer }', budget),
    data: with_(low),
    neighbours: Object.keys(high).map((column) => ({
      of: answersTo(column),
      data: with_({ ...low, [column]: high[column as keyof Person] }),
    })),
    more: [...questions.slice(0, 4), ...sampled],
  };
}

function graphs(secret: 'edge' | 'person', budget: string): World {
  const nodes = 9;
  const pairs = Array.from({ length: nodes }, (_, a) => Array.from({ length: a }, (_, b) => [a, b] as const)).flat();
  const ring = pairs.filter(([a, b]) => a - b <= 2 || a - b >= nodes - 2);
  const csv = (list: readonly (readonly [number, number])[]): Table => ({
    'people.csv': `id\n${Array.from({ length: nodes }, (_, a) => `n${a}`).join('\n')}\n`,
    'friends.csv': `a,b\n${list.map(([a, b]) => `n${a},n${b}`).join('\n')}\n`,
  });
  const changed =
    secret === 'edge'
      ? [ring.slice(1), [...ring, [5, 0] as const]]
      : [ring.filter(([a, b]) => a !== 0 && b !== 0), [...ring.filter(([, b]) => b !== 0), ...pairs.filter(([, b]) => b === 0)]];
  return {
    name: `${secret === 'edge' ? 'ties' : 'people with ties'}, ${budget}`,
    policy: policyOf(
      secret === 'edge' ? '{ secret: edge }' : '{ secret: person, unit: id, maxRows: 1 }',
      budget,
      `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: ${nodes}, symmetric: true }\n`,
    ),
    data: csv(ring),
    neighbours: changed.map((list) => ({ of: secret === 'edge' ? tuplesIn('friend') : everyRecord, data: csv(list) })),
    more: [
      ...['ladder', 'smooth', 'residual-ladder', 'residual-smooth', 'laplace'].map((mechanism) => ({
        pattern: 'triangles',
        mechanism,
      })),
      { pattern: 'triangles', mechanism: 'truncation-ladder', degree: 4 },
      ...['cumulative', 'sequence', 'histogram'].map((form) => ({ pattern: 'degrees', form, degree: 5 })),
      { pattern: 'clustering coefficient' },
      { pattern: '2-paths' },
    ].filter(
      (q) => !('mechanism' in q) || (q.mechanism === 'truncation-ladder') === (secret === 'person') || q.mechanism === 'laplace',
    ),
  };
}

/** Tuples that are one person's own: all of them come and go together. */
function owners(budget: string): World {
  const values = Array.from({ length: 31 }, (_, v) => `v${v}`);
  const csv = (own: readonly string[]): Table => ({
    'people.csv': `id\n${values.slice(0, 9).join('\n')}\n`,
    'visits.csv': `id,place\n${[...own.map((v) => `v0,${v}`), ...values.slice(1, 9).map((v) => `${v},v3`)].join('\n')}\n`,
  });
  return {
    name: `people with tuples of their own, ${budget}`,
    policy: policyOf(
      '{ secret: person, unit: id, maxRows: 1 }',
      budget,
      `relations:\n  visit: { table: visits.csv, columns: [id, place], domain: ${values.length} }\n`,
    ),
    data: csv([]),
    neighbours: [values, values.slice(0, 1), values.slice(0, 7)].map((own) => ({ of: everyRecord, data: csv(own) })),
    more: [{ pattern: 'q(x, p) :- visit(x, p)', mechanism: 'r2t' }],
  };
}

/** Privacy loss of the distributions between the inputs of both worlds, in the accounting of the reserved cost. */
function lost({ mechanism: { distribution, cost }, out }: Step, before: unknown, after: unknown): Rational {
  if (distribution.kind === 'ladder' || distribution.kind === 'smooth') {
    const [a, b] = [before, after] as { exact: bigint; rungs: Rungs }[];
    const difference = a!.exact > b!.exact ? a!.exact - b!.exact : b!.exact - a!.exact;
    // One step of the ladder, in either direction: the number changes by at most the first rung, and no rung exceeds the next one there.
    for (const [here, there] of [
      [a!.rungs, b!.rungs],
      [b!.rungs, a!.rungs],
    ] as const) {
      expect(difference <= here.width(0)).toBe(true);
      for (let t = 0; t < 12; t++) expect(here.width(t) <= there.width(t + 1)).toBe(true);
    }
    return drawCost(distribution, cost.noise, { l1: 1n, l2squared: 1n })!;
  }
  if (distribution.kind === 'tilt') {
    // Change that the linear term must cover at the released weights; every entry that changes is rounded up by one.
    const [here, there] = [before, after].map((data) => (data as ObjectiveData).gradient(out as readonly bigint[]));
    const difference = here!.map((x, j) => x - there![j]!).filter((x) => x !== 0n);
    return drawCost(distribution, cost.noise, {
      l1: difference.reduce((sum, x) => sum + (x < 0n ? -x : x) + 1n, 0n),
      l2squared: 0n,
    })!;
  }
  const moved = (before as readonly bigint[]).map((x, i) => x - (after as readonly bigint[])[i]!);
  if (distribution.kind === 'none') {
    expect(moved.every((d) => d === 0n)).toBe(true);
    return zero;
  }
  if (distribution.kind === 'selection') {
    // A common shift of all penalties changes nothing.
    const range = moved.reduce((m, x) => (x > m ? x : m)) - moved.reduce((m, x) => (x < m ? x : m));
    const epsilon = multiply(distribution.sharpness, rational(range));
    return cost.noise === 'pure' ? epsilon : divide(multiply(epsilon, epsilon), rational(8));
  }
  const l1 = moved.reduce((sum, d) => sum + (d < 0n ? -d : d), 0n);
  return drawCost(distribution, cost.noise, { l1, l2squared: moved.reduce((sum, d) => sum + d * d, 0n) })!;
}

const kinds = (await Promise.all(Object.values(loaders).map((load) => load()))) as unknown as readonly AnyKind[];
const kindOf = (question: object): AnyKind =>
  kinds.find(({ name }) => name in question) ?? kinds.find(({ name }) => name === 'queries')!;

type Opened = PrivacySession & { close(): Promise<void> };
async function open(world: World, data: Table): Promise<Opened> {
  const shop = openWorkshop(world.policy);
  shops.push(shop);
  for (const [name, text] of Object.entries(data)) shop.write(name, text);
  return shop.session();
}
const booked = async (session: PrivacySession, of: RecordClass): Promise<Rational> => {
  const spent = await session.spent();
  return [spent.pure, spent.zcdp].map(({ perRecord }) => perRecord.get(of) ?? zero).reduce(add);
};

/** Largest share of the reserved cost that any neighbour loses. */
async function used(
  here: PrivacySession,
  neighbours: readonly { of: RecordClass; there: PrivacySession }[],
  question: object,
): Promise<number> {
  const release = (session: PrivacySession) => kindOf(question).release(session, question, { epsilon: '1/2', fresh: true });
  const before = await Promise.all(neighbours.map(({ of }) => booked(here, of)));
  Object.assign(watch, { steps: [], replay: undefined, after: [] });
  await release(here);
  const { steps } = watch;
  let most = 0;
  for (const [k, { of, there }] of neighbours.entries()) {
    Object.assign(watch, { replay: steps, after: [] });
    await release(there);
    expect(watch.after.length).toBe(steps.length);
    const loss = steps.reduce((sum, step, i) => add(sum, lost(step, step.given, watch.after[i])), zero);
    const paid = subtract(await booked(here, of), before[k]!);
    expect(
      compare(loss, paid),
      `${JSON.stringify(question)} loses ${toNumber(loss)} of ${toNumber(paid)} booked`,
    ).toBeLessThanOrEqual(0);
    if (paid.num > 0n) most = Math.max(most, toNumber(divide(loss, paid)));
  }
  return most;
}

const pure = '{ epsilon: 90 }';
const approximate = '{ epsilon: 90, delta: 1e-6 }';
const worlds: readonly World[] = [
  tables('row', 1, pure),
  tables('row', 1, approximate),
  tables('person', 3, pure),
  tables('person', 3, approximate),
  presence('row', 1),
  presence('person', 3),
  answers(pure),
  graphs('edge', pure),
  graphs('person', pure),
  owners(pure),
];

describe.each(worlds)('the reserved cost and the privacy loss between neighbours: $name', (world) => {
  it('the reserved cost covers the privacy loss for an example of every kind, and more', async () => {
    const here = await open(world, world.data);
    const neighbours = await Promise.all(world.neighbours.map(async ({ of, data }) => ({ of, there: await open(world, data) })));
    const examples = kinds.flatMap((kind) => (kind.example(here.policy) as object | undefined) ?? []);
    const tight: Record<string, number> = {};
    for (const question of [...examples, ...(world.more as object[])])
      if (world.answers?.includes(kindOf(question).name) === false)
        await expect(kindOf(question).release(here, question, { epsilon: '1/2' })).rejects.toMatchObject({
          code: expect.stringMatching(/QUERY_UNSUPPORTED|QUERY_INVALID|POLICY_INVALID/),
        });
      else tight[JSON.stringify(question)] = await used(here, neighbours, question);
    if (process.env.FUGU_TIGHT) console.log(world.name, tight);
    // Neighbours that move nothing would let anything pass.
    for (const [question, part] of Object.entries(tight)) expect(part, question).toBeGreaterThan(0.02);
    expect(Math.max(...Object.values(tight))).toBeGreaterThan(0.99);
    for (const session of [here, ...neighbours.map(({ there }) => there)]) await session.close();
  });
});
