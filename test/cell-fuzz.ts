import { countStreaming } from '../src/count/count.js';
import { compileMeasures, readCounts, readGroups } from '../src/count/groups.js';
import type { Measure } from '../src/count/measure.js';
import type { Cell, Pinned, Statement } from '../src/engine/engine.js';
import { Exact } from '../src/engine/exact.js';
import { Fault } from '../src/errors.js';
import { parseRational, rational } from '../src/exact/rational.js';
import { gridOf } from '../src/policy/grid.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { parseBatch } from '../src/query/parse.js';
import { countByHand, readingByHand } from './count-by-hand.js';
import { openNow } from './now.js';
import { category, multi, number, samplePolicy, weight } from './sample-policy.js';
import { generator, type Pick, type Stored, type Ugly } from './ugly-cells.js';

/** Full run: FUGU_FUZZ_CELLS=100000 npx vitest run test/ugly-cells.test.ts; in a database, npx vitest run --config vitest.postgres.config.ts test/postgres/ugly-cells.spec.ts */
export const wanted = Number(process.env.FUGU_FUZZ_CELLS ?? 0);
const worlds = wanted > 0 ? 64 : 32;
/** Columns asked about in one policy, and questions about each, drawn among all stored types and all kinds. */
const asked = wanted > 0 ? 4 : 3;
const questions = wanted > 0 ? Number.POSITIVE_INFINITY : 4;

/**
 * Many neighbours in one file. World 0 is a data set of four tame records; every other world is the same with the first record's cells replaced by ugly
 * ones. Every question is asked by world, so that one statement answers for all of them and a cell that breaks it breaks it for all.
 */
export interface Table {
  readonly columns: readonly { readonly name: string; readonly stored: Stored }[];
  readonly rows: readonly (readonly Ugly[])[];
}
const plain = (name: string, type = 'VARCHAR'): { name: string; stored: Stored } => ({
  name,
  stored: { type, shown: 'text', tame: { sql: 'NULL', text: null }, cells: [] },
});
const said = (text: string): Ugly => ({ sql: `'${text}'`, text });

function makeTable(types: readonly Stored[], pick: Pick): Table {
  const columns = [plain('world'), plain('g'), plain('t'), plain('tw'), ...types.map((stored, i) => ({ name: `x${i}`, stored }))];
  const rows: Ugly[][] = [];
  for (let w = 0; w < worlds; w++)
    for (let r = 0; r < 4; r++)
      rows.push([
        said(`w${w}`),
        said('abc'[r % 3]!),
        said(`${2 * r}`),
        said(`${0.5 * (r + 1)}`),
        ...types.map(({ tame, cells }) => (w > 0 && r === 0 ? cells[pick(cells.length)]! : tame)),
      ]);
  return { columns, rows };
}

/** Where a table of them lies, and how it is read. */
export interface File {
  readonly kind: string;
  readonly source: string;
  /** Of a database. */
  readonly named?: string;
  readonly table: Table;
  readonly csv: boolean;
  readonly memory?: number;
  /** Letters of a number in text. */
  readonly longestNumber?: number;
}
type Declare = (name: string) => Column;
type Ask = (name: string, column: Column) => readonly object[];
const by = ['world'];
const askNumber: Ask = (column, declared) => {
  const grid = gridOf(declared as Parameters<typeof gridOf>[0]);
  const middle = Number(grid.low.num) / Number(grid.low.den) + (grid.last >> 1) * (Number(grid.step.num) / Number(grid.step.den));
  const value = `${middle}`;
  return [
    { kind: 'histogram', column, by },
    { kind: 'count', by, where: [{ column, op: '>', value }] },
    { kind: 'count', by, where: [{ column, op: '!=', value }] },
    { kind: 'count', by, where: [{ column, op: 'missing' }] },
    { kind: 'sum', column, by },
    { kind: 'sum', column },
    { kind: 'mean', column, by, weight: 'tw', where: [{ column, op: '<=', value }] },
    { kind: 'variance', column, by },
    ...(grid.last < 300 ? [{ kind: 'quantile', column, by, at: [0.5] }] : [{ kind: 'quantile', column, at: [0.5] }]),
    { kind: 'sum', column: 't', by: ['world', column] },
  ];
};
const askCodes: Ask = (column, declared) => {
  const codes = 'values' in declared ? declared.values : [];
  return [
    { kind: 'histogram', column, by },
    { kind: 'count', by, where: [{ column, op: 'in', values: codes.slice(0, 3) }] },
    { kind: 'count', by, where: [{ column, op: '!=', value: codes[1] }] },
    { kind: 'count', by, where: [{ column, op: 'missing' }] },
    { kind: 'count', where: [{ column, op: 'present' }], by: ['g'] },
    { kind: 'share', column, by, values: codes.slice(1, 4) },
    { kind: 'crosstab', columns: [column, 'g'], by },
    { kind: 'sum', column: 't', by: [column], weight: 'tw' },
    { kind: 'mean', column: 't', by: ['world', column] },
  ];
};
const askWeight: Ask = (column) => [
  { kind: 'count', by, weight: column },
  { kind: 'sum', column: 't', by, weight: column },
  { kind: 'mean', column: 't', by: ['world', 'g'], weight: column },
  { kind: 'count', by, where: [{ column, op: 'missing' }] },
];

const declared = (
  type: 'integer' | 'number',
  low: string,
  high: string,
  step = '1',
  missing: readonly string[] = [],
): Declare => {
  return (name) => number(name, low, high, step, { type, missing });
};
const steps = ['1', '1', '2', '0.5', '0.1', '0.05', '1/3', '7', '1e-9', '64', '16777216', '1e24'];
function randomGrid(pick: Pick): Declare {
  const step = parseRational(steps[pick(steps.length)]!);
  const low = rational(step.num * BigInt(pick(400) - 200) + BigInt(pick(3)), step.den * [1n, 2n, 3n][pick(3)]!);
  const high = rational(
    low.num * step.den + BigInt([0, 1, 5, 11, 12, 200, 100_000][pick(7)]!) * step.num * low.den,
    low.den * step.den,
  );
  const text = ({ num, den }: { num: bigint; den: bigint }) => `${num}/${den}`;
  return declared('number', text(low), text(high), text(step), ['99', '-1', '0.5'].slice(pick(4)));
}

const readings = (pick: Pick): readonly (readonly [string, Declare, Ask])[] => [
  ['an integer', declared('integer', '0', '10', '1', ['-1', '99']), askNumber],
  ['an integer with fractional bounds', declared('number', '0.5', '4.5'), askNumber],
  ['a fine number', declared('number', '-2.5', '7.25', '0.05', ['0']), askNumber],
  ['a number about 2^53', declared('number', `${2 ** 53 - 6400}`, `${2 ** 53 + 6400}`, '64', ['9007199254740993']), askNumber],
  ['an integer below a missing code above 2^53', declared('integer', '-5', '5', '1', ['9007199254740992', '2.5']), askNumber],
  ['a number about 2^63', declared('number', `-${2n ** 63n}`, `${2n ** 63n}`, `${2n ** 26n}`), askNumber],
  ['a number about 1e30', declared('number', '0', '1e30', '1e24', ['1e300', '1e400']), askNumber],
  ['a number in thirds', declared('number', '1/3', '10/3', '1/3'), askNumber],
  ['a number at random', randomGrid(pick), askNumber],
  ['a number at random again', randomGrid(pick), askNumber],
  ['whole codes', (name) => category(name, ['0', '1', '2', '10', '-1', '3'], { missing: ['99'] }), askCodes],
  [
    'codes of all sorts',
    (name) =>
      category(name, [
        'x',
        'true',
        '1',
        '1.5',
        '007',
        '2020-01-02',
        'dem',
        'é',
        '1e3',
        '9007199254740993',
        '18446744073709551615',
        '[1, 2]',
        '3',
      ]),
    askCodes,
  ],
  [
    'too many codes to be coded',
    (name) =>
      category(
        name,
        Array.from({ length: 300 }, (_, i) => `${i}`),
      ),
    askCodes,
  ],
  ['options', (name) => multi(name, ['0', '1', '2', 'tv', 'true', '1.5', '3']), askCodes],
  ['options after commas', (name) => multi(name, ['1', '2', 'tv', '3'], ', '), askCodes],
  ['a weight', (name) => weight(name, '0', '5', '0.5'), askWeight],
];

function draw<T>(list: readonly T[], count: number, random: Pick): T[] {
  const left = [...list];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)[0]!);
}

interface Scene {
  readonly policy: Policy;
  readonly measures: readonly Measure[];
  readonly expected: readonly (readonly bigint[])[];
}
function sceneOf(file: File, declare: Declare, ask: Ask, random: Pick, most: number): Scene {
  const stored = file.table.columns.filter(({ name }) => name.startsWith('x')).map(({ name }) => name);
  const mine = draw(stored, asked, random).map(declare);
  const columns = [
    category(
      'world',
      Array.from({ length: worlds }, (_, w) => `w${w}`),
    ),
    category('g', ['a', 'b', 'c']),
    number('t', '0', '9'),
    weight('tw', '0.5', '2', '0.5'),
    ...mine,
  ];
  // A person of four rows, all kept: the choice among a person's rows reads every declared cell.
  const protect = random(2) === 0 ? { secret: 'person' as const, unit: 'world', maxRows: 4 } : {};
  const policy = {
    ...samplePolicy(columns, protect),
    data: { source: file.source, ...(file.named !== undefined && { table: file.named }) },
  };
  // What policy and query alone refuse is refused whatever the data are.
  const queries = mine.flatMap((column) =>
    draw(
      ask(column.name, column).filter((query) => binds(query, policy)),
      most,
      random,
    ),
  );
  const { measures } = bindBatch(parseBatch(queries), policy);
  const byName = new Map(
    file.table.columns.flatMap(({ name, stored }, i) => {
      const column = policy.columns.get(name);
      return column ? [[name, readingByHand(column, stored, file.csv, file.table, i, file.longestNumber)] as const] : [];
    }),
  );
  return {
    policy,
    measures,
    expected: measures.map(({ counting }) => countByHand(policy, counting, byName, file.table.rows.length)),
  };
}
function binds(query: object, policy: Policy): boolean {
  try {
    bindBatch(parseBatch(query), policy);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** What each way of counting says of each measure: its integers, or what it threw. */
type Ways = Readonly<Record<string, readonly (readonly bigint[] | string | undefined)[]>>;
const thrown = (error: unknown): string =>
  error instanceof Fault ? `${error.code}: ${error.message}` : `${(error as Error).name}: ${(error as Error).message}`;
async function countAll(engine: Pinned, { policy, measures }: Scene): Promise<Ways> {
  const aggregate: (readonly bigint[] | string)[] = [];
  const groups: (readonly bigint[] | string | undefined)[] = [];
  for (const plan of compileMeasures(measures, policy, await engine.columns(), engine.dialect)) {
    try {
      for (const [i, cells] of readCounts(plan, measures, (await engine.rows(plan.statement)).open())) aggregate[i] = cells;
    } catch (error) {
      for (const i of plan.measures) aggregate[i] = thrown(error);
    }
    try {
      const found = plan.groups && readGroups(plan, measures, policy, (await engine.rows(plan.groups.statement)).open());
      for (const [i, cells] of found ?? []) groups[i] = cells;
    } catch (error) {
      for (const i of plan.measures) groups[i] = thrown(error);
    }
  }
  const streamed = await countStreaming(engine, policy, measures).then(
    (list) => list.map((cells) => cells.open()),
    (error) => measures.map(() => thrown(error)),
  );
  return { aggregate, groups, streamed };
}

interface Wrong {
  readonly where: string;
  readonly measure: string;
  readonly found: string;
}
const show = (value: unknown): string =>
  JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v))?.slice(0, 300) ?? '';
function differences(where: string, { measures, expected }: Scene, ways: Ways): Wrong[] {
  return Object.entries(ways).flatMap(([way, list]) =>
    measures.flatMap((measure, i): Wrong[] => {
      const found = list[i];
      if (found === undefined)
        return way === 'groups' ? [] : [{ where: `${where}, ${way}`, measure: measure.name, found: 'nothing' }];
      if (typeof found === 'string')
        return [{ where: `${where}, ${way}`, measure: `${measure.name} ${show(measure.counting)}`, found }];
      const at = found.findIndex((n, cell) => n !== expected[i]![cell]);
      if (at < 0 && found.length === expected[i]!.length) return [];
      return [
        {
          where: `${where}, ${way}`,
          measure: `${measure.name} ${show(measure.counting)}`,
          found: `${measure.cells[Math.floor((at * measure.cells.length) / found.length)]?.join()}: ${found[at]} instead of ${expected[i]![at]}`,
        },
      ];
    }),
  );
}

export interface Tally {
  cases: number;
  wrong: Wrong[];
}
export interface Course {
  /** Every type that can be stored there, with cells at its edges. */
  readonly stored: (pick: Pick) => readonly Stored[];
  /** Writes the table wherever it can be read from. */
  readonly write: (name: string, table: Table) => Promise<readonly File[]>;
  /** The files in which a reading is tried. */
  readonly files: (list: readonly File[], reading: string) => readonly File[];
  readonly types?: (list: readonly Stored[]) => readonly Stored[];
  readonly twin?: (engine: Pinned) => Pinned;
}
let made = 0;
export async function fuzz(seed: number, course: Course): Promise<Tally> {
  const random = generator(seed);
  const types = course.stored(random);
  const all = await course.write(`table_${made++}`, makeTable(course.types?.(types) ?? types, random));
  const tally: Tally = { cases: 0, wrong: [] };
  for (const [name, declare, ask] of readings(random))
    for (const file of course.files(all, name)) {
      const scene = sceneOf(file, declare, ask, random, course.types ? Number.POSITIVE_INFINITY : questions);
      const where = `seed ${seed}, ${name}, ${file.kind}`;
      let engine: Pinned;
      try {
        engine = await openNow(scene.policy, { threads: 1, ...(file.memory !== undefined && { memory: file.memory }) });
      } catch (error) {
        tally.wrong.push({ where, measure: 'open', found: thrown(error) });
        continue;
      }
      const started = performance.now();
      try {
        const ways = await countAll(course.twin?.(engine) ?? engine, scene);
        tally.wrong.push(...differences(where, scene, ways));
        tally.cases += scene.measures.length * (worlds - 1);
      } finally {
        await engine.close();
      }
      if (process.env.FUGU_FUZZ_TIMES) console.log(where, scene.measures.length, (performance.now() - started).toFixed(0));
    }
  return tally;
}

/** The engine, but for what streams out of it. */
export const streaming = (engine: Pinned, change: (cell: Cell) => Cell): Pinned =>
  new Proxy(engine, {
    get(target, property) {
      if (property !== 'stream') {
        const value = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async function* (statement: Statement) {
        for await (const chunk of target.stream(statement)) {
          const { rows, columns } = chunk.open();
          yield new Exact({ rows, columns: columns.map((cells) => Array.from({ length: rows }, (_, i) => change(cells[i]!))) });
        }
      };
    },
  });
