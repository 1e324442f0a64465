import { countColumnPairs } from '../src/analysis/learn/network/pair-counts.js';
import { countTransitions } from '../src/analysis/learn/transitions/learn-transitions.js';
import { Fault } from '../src/base/errors.js';
import { parseRational, rational } from '../src/base/exact/rational.js';
import type { Cell, Snapshot, Statement } from '../src/data/engine/engine.js';
import { Exact } from '../src/data/engine/exact.js';
import { openEngine } from '../src/data/terms/open.js';
import { gridOf } from '../src/policy/grid.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase, countStreaming } from '../src/query/count/count.js';
import { compileMeasures, readCounts, readGroups } from '../src/query/count/groups.js';
import type { Measure } from '../src/query/count/measure.js';
import { parseBatch } from '../src/query/parse.js';
import { countByHand, readingByHand } from './count-by-hand.js';
import { openNow } from './now.js';
import { plainly } from './plainly.js';
import { category, multi, number, samplePolicy, weight } from './sample-policy.js';
import { type PickBelow, type StoredType, seededPick, type UglyCell } from './ugly-cells.js';

/**
 * Full run: FUGU_FUZZ_CELLS=100000 FUGU_FUZZ_NEIGHBOURS=1000 npx vitest run test/ugly-cells.deep.test.ts; in a database, npx vitest run --config vitest.postgres.config.ts
 * test/postgres/ugly-cells.spec.ts, and with vitest.cluster.config.ts test/cluster/ugly-cells.spec.ts
 */
export const wanted = Number(process.env.FUGU_FUZZ_CELLS ?? 0);
const worlds = wanted > 0 ? 64 : 32;
/** Columns used in one policy and questions per column, drawn among all stored types and all kinds. */
const questionsPerColumn = wanted > 0 ? 4 : 3;
const questions = wanted > 0 ? Number.POSITIVE_INFINITY : 4;

/**
 * Many neighbouring data sets in one file: world 0 has four ordinary records, every other world has ugly cells in its first record.
 * Questions are grouped by world: one statement answers for all, and a cell that breaks it breaks it for all.
 */
export interface MemoryTable {
  readonly columns: readonly { readonly name: string; readonly stored: StoredType }[];
  readonly rows: readonly (readonly UglyCell[])[];
}
const plain = (name: string, type = 'VARCHAR'): { name: string; stored: StoredType } => ({
  name,
  stored: { type, shown: 'text', tame: { sql: 'NULL', text: null }, cells: [] },
});
const textCell = (text: string): UglyCell => ({ sql: `'${text}'`, text });

function makeTable(types: readonly StoredType[], pick: PickBelow): MemoryTable {
  const columns = [plain('world'), plain('g'), plain('t'), plain('tw'), ...types.map((stored, i) => ({ name: `x${i}`, stored }))];
  const rows: UglyCell[][] = [];
  for (let w = 0; w < worlds; w++)
    for (let r = 0; r < 4; r++)
      rows.push([
        textCell(`w${w}`),
        textCell('abc'[r % 3]!),
        textCell(`${2 * r}`),
        textCell(`${0.5 * (r + 1)}`),
        ...types.map(({ tame, cells }) => (w > 0 && r === 0 ? cells[pick(cells.length)]! : tame)),
      ]);
  return { columns, rows };
}

/** Location of a table of them, and how it is read. */
export interface File {
  readonly kind: string;
  readonly source: string;
  /** Of a database. */
  readonly named?: string;
  readonly table: MemoryTable;
  readonly csv: boolean;
  readonly memory?: number;
  /** Letters of a number in text. */
  readonly longestNumber?: number;
}
type Declare = (name: string) => Column;
type AskColumn = (name: string, column: Column) => readonly object[];
const by = ['world'];
const askNumber: AskColumn = (column, declared) => {
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
const askCodes: AskColumn = (column, declared) => {
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
const askWeight: AskColumn = (column) => [
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
function randomGrid(pick: PickBelow): Declare {
  const step = parseRational(steps[pick(steps.length)]!);
  const low = rational(step.num * BigInt(pick(400) - 200) + BigInt(pick(3)), step.den * [1n, 2n, 3n][pick(3)]!);
  const high = rational(
    low.num * step.den + BigInt([0, 1, 5, 11, 12, 200, 100_000][pick(7)]!) * step.num * low.den,
    low.den * step.den,
  );
  const text = ({ num, den }: { num: bigint; den: bigint }) => `${num}/${den}`;
  return declared('number', text(low), text(high), text(step), ['99', '-1', '0.5'].slice(pick(4)));
}

const readings = (pick: PickBelow): readonly (readonly [string, Declare, AskColumn])[] => [
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

function draw<T>(list: readonly T[], count: number, random: PickBelow): T[] {
  const left = [...list];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)[0]!);
}

interface Questions {
  readonly policy: Policy;
  readonly measures: readonly Measure[];
}
interface Scene extends Questions {
  readonly expected: readonly (readonly bigint[])[];
}
function sceneOf(file: File, declare: Declare, ask: AskColumn, random: PickBelow, most: number): Scene {
  const stored = file.table.columns.filter(({ name }) => name.startsWith('x')).map(({ name }) => name);
  const mine = draw(stored, questionsPerColumn, random).map(declare);
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
  // Queries that policy and query alone refuse are refused for all data.
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

/** Number of neighbours in the full run. */
const neighbours = Number(process.env.FUGU_FUZZ_NEIGHBOURS ?? 0);

/** Statements sent to a database, in order, and how they end. */
interface Trace {
  readonly statements: readonly string[];
  readonly outcome: string;
}
async function traced(
  engine: Snapshot,
  work: (watched: Snapshot) => Promise<unknown>,
  wire?: () => readonly string[],
  blocks = true,
): Promise<Trace> {
  const statements: string[] = [];
  const note = (what: string, statement?: Statement) => statements.push(show([what, statement?.sql, statement?.values], 1e6));
  const noting =
    <A extends readonly Statement[], T>(what: string, work: (...given: A) => T) =>
    (...given: A): T => {
      note(what, given[0]);
      return work(...given);
    };
  const watched = Object.assign(Object.create(engine) as Snapshot, {
    columns: noting('columns', () => engine.columns()),
    size: noting('size', () => engine.size()),
    count: noting('count', (statement: Statement) => engine.count(statement)),
    rows: noting('rows', (statement: Statement) => engine.rows(statement)),
    async *stream(statement: Statement) {
      note('stream', statement);
      let rows = 0;
      for await (const block of engine.stream(statement)) {
        rows += block.open().rows;
        if (blocks) note(`block of ${block.open().rows}`);
        yield block;
      }
      note(`${rows} rows`);
    },
  });
  wire?.();
  const outcome = await work(watched).then(() => 'answered').catch(thrown); // biome-ignore format: one line
  return { statements: [...statements, ...(wire?.() ?? [])], outcome };
}

/**
 * Neighbours one by one: ordinary records, and the same with one ugly cell. Statements, order, trips and outcome must be equal.
 * `wire`: bytes on the wire since its last call.
 */
export async function neighboursDiffer(
  seed: number,
  course: Course & { readonly most: number; readonly wire?: (file: File) => () => readonly string[] },
): Promise<{ readonly tried: number; readonly asked: number; readonly wrong: readonly Wrong[] }> {
  const random = seededPick(seed);
  const types = draw(course.types?.(course.stored(random)) ?? course.stored(random), 6, random);
  const declares = draw(readings(random), types.length, random);
  const own = [plain('who'), plain('g'), plain('t'), plain('tw'), ...types.map((stored, i) => ({ name: `x${i}`, stored }))];
  const tame = Array.from({ length: 5 }, (_, r) => [textCell(`p${r}`), textCell('abc'[r % 3]!), textCell(`${r}`), textCell(`${0.5 * (r % 4 + 1)}`), ...types.map((t) => t.tame)]); // biome-ignore format: one line
  const all = types.flatMap(({ cells }, i) => cells.map((cell) => [i, cell] as const));
  const wrong: Wrong[] = [];
  let first: Trace | undefined;
  let tried = 0;
  for (const change of [undefined, ...draw(all, neighbours || course.most, random)]) {
    const rows = tame.map((row, r) => (change && r === 0 ? row.map((cell, c) => (c === 4 + change[0] ? change[1] : cell)) : row));
    for (const file of course.files(await course.write(`near_${made++}`, { columns: own, rows }), '')) {
      const scene = neighbourScene(file, declares);
      const engine = await openEngine(scene.policy, { threads: 1 });
      const data = await engine.snapshot();
      try {
        const twin = course.twin?.(plainly(data)) ?? data;
        const trace = await traced(twin, (watched) => askEverything(watched, scene), course.wire?.(file), course.blocks);
        first ??= trace;
        tried++;
        const at = trace.statements.findIndex((text, k) => text !== first!.statements[k]);
        if (first.outcome !== 'answered' || trace.outcome !== first.outcome || at >= 0 || trace.statements.length !== first.statements.length)
          wrong.push({ where: `seed ${seed}, ${file.kind}, x${change?.[0]} ${types[change?.[0] ?? 0]!.type}`, measure: show(change?.[1].sql), found: `${trace.outcome}; ${trace.statements.length} instead of ${first.statements.length}; ${trace.statements[at]?.slice(0, 200)}` }); // biome-ignore format: one line
      } finally {
        await data.close();
        await engine.close();
      }
    }
  }
  return { tried, asked: first?.statements.length ?? 0, wrong };
}

function neighbourScene(file: File, declares: readonly (readonly [string, Declare, AskColumn])[]): Questions {
  const mine = declares.map(([, declare], i) => declare(`x${i}`));
  const columns = [category('g', ['a', 'b', 'c']), number('t', '0', '9'), weight('tw', '0.5', '2', '0.5'), ...mine]; // biome-ignore format: one line
  const policy = {
    ...samplePolicy(columns, { secret: 'person', unit: 'who', maxRows: 2 }),
    data: { source: file.source, ...(file.named !== undefined && { table: file.named }) },
  };
  const queries = declares.flatMap(([, , ask], i) =>
    ask(`x${i}`, mine[i]!)
      .map((query) => ({
        ...query,
        ...('by' in query && { by: (query.by as string[]).map((name) => (name === 'world' ? 'g' : name)) }),
      }))
      .filter((query) => binds(query, policy))
      .slice(0, 3),
  );
  return { policy, measures: bindBatch(parseBatch(queries), policy).measures };
}

/** Every way in which rows become counts. */
async function askEverything(data: Snapshot, { policy, measures }: Questions): Promise<void> {
  await countByDatabase(data, policy, measures);
  await countStreaming(data, policy, measures);
  const answers = [...policy.columns.values()].filter((c) => c.type !== 'multi' && c.type !== 'weight').map((c) => c.name); // biome-ignore format: one line
  await countColumnPairs(data, policy, answers);
  await countTransitions(data, policy, { by: 'who', order: 't', state: 'g' });
}

/** Result of each counting method for each measure: its integers, or the error thrown. */
type CountsByMethod = Readonly<Record<string, readonly (readonly bigint[] | string | undefined)[]>>;
const thrown = (error: unknown): string =>
  error instanceof Fault ? `${error.code}: ${error.message}` : `${(error as Error).name}: ${(error as Error).message}`;
async function countAll(engine: Snapshot, { policy, measures }: Scene): Promise<CountsByMethod> {
  const aggregate: (readonly bigint[] | string)[] = [];
  const groups: (readonly bigint[] | string | undefined)[] = [];
  for (const plan of compileMeasures(measures, { dialect: engine.dialect, policy: policy, columns: await engine.columns() })) {
    try {
      for (const [i, cells] of readCounts(plan, measures, (await engine.rows(plan.statement)).open())) aggregate[i] = cells;
    } catch (error) {
      for (const i of plan.measures) aggregate[i] = thrown(error);
    }
    try {
      const found = plan.groups && readGroups(plan, measures, (await engine.rows(plan.groups.statement)).open());
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
const show = (value: unknown, letters = 300): string =>
  JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v))?.slice(0, letters) ?? '';
function differences(where: string, { measures, expected }: Scene, counts: CountsByMethod): Wrong[] {
  return Object.entries(counts).flatMap(([method, list]) =>
    measures.flatMap((measure, i): Wrong[] => {
      const found = list[i];
      if (found === undefined)
        return method === 'groups' ? [] : [{ where: `${where}, ${method}`, measure: measure.name, found: 'nothing' }];
      if (typeof found === 'string')
        return [{ where: `${where}, ${method}`, measure: `${measure.name} ${show(measure.counting)}`, found }];
      const at = found.findIndex((n, cell) => n !== expected[i]![cell]);
      if (at < 0 && found.length === expected[i]!.length) return [];
      return [
        {
          where: `${where}, ${method}`,
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
  readonly stored: (pick: PickBelow) => readonly StoredType[];
  /** Writes the table wherever it can be read from. */
  readonly write: (name: string, table: MemoryTable) => Promise<readonly File[]>;
  /** The files in which a reading is tried. */
  readonly files: (list: readonly File[], reading: string) => readonly File[];
  readonly types?: (list: readonly StoredType[]) => readonly StoredType[];
  /** Number of questions per column, if not the default. */
  readonly questions?: number;
  readonly twin?: (engine: Snapshot) => Snapshot;
  /** Rows are cut into blocks by us; a cluster returns pages in the order its workers finish. */
  readonly blocks?: boolean;
}
let made = 0;
export async function fuzz(seed: number, course: Course): Promise<Tally> {
  const random = seededPick(seed);
  const types = course.stored(random);
  const all = await course.write(`table_${made++}`, makeTable(course.types?.(types) ?? types, random));
  const tally: Tally = { cases: 0, wrong: [] };
  for (const [name, declare, ask] of readings(random))
    for (const file of course.files(all, name)) {
      const scene = sceneOf(
        file,
        declare,
        ask,
        random,
        course.questions ?? (course.types ? Number.POSITIVE_INFINITY : questions),
      );
      const where = `seed ${seed}, ${name}, ${file.kind}`;
      let engine: Snapshot;
      try {
        engine = await openNow(scene.policy, { threads: 1, ...(file.memory !== undefined && { memory: file.memory }) });
      } catch (error) {
        tally.wrong.push({ where, measure: 'open', found: thrown(error) });
        continue;
      }
      const started = performance.now();
      try {
        const counts = await countAll(course.twin?.(engine) ?? engine, scene);
        tally.wrong.push(...differences(where, scene, counts));
        tally.cases += scene.measures.length * (worlds - 1);
      } finally {
        await engine.close();
      }
      if (process.env.FUGU_FUZZ_TIMES) console.log(where, scene.measures.length, (performance.now() - started).toFixed(0));
    }
  return tally;
}

/** The engine, except for its streams. */
export const streaming = (engine: Snapshot, change: (cell: Cell) => Cell): Snapshot =>
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
