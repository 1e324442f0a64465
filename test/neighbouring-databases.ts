import type { Cell, SourceColumn } from '../src/data/engine/engine.js';
import { daysOf } from '../src/policy/date-text.js';
import type { Column, LinkedTable, Policy } from '../src/policy/policy.js';
import { category, multi, number, samplePolicy } from './sample-policy.js';

/** Numbers that come the same way every time. */
export function drawing(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  const among = <T>(list: readonly T[]): T => list[below(list.length)]!;
  return { below, among, chance: (p: number) => next() < p };
}
export type Draw = ReturnType<typeof drawing>;

/** Many databases in one, each with its own persons; `w` is the number of the database. */
export interface DatabaseShape {
  readonly policy: Policy;
  readonly persons: 'text' | 'integer';
  /** Columns of each table; the unit first where rows are persons'. */
  readonly tables: ReadonlyMap<string, { readonly unit?: string; readonly columns: readonly string[] }>;
}

const first = daysOf('2023-11-20')!;
const worldColumn = (worlds: number) =>
  category(
    'w',
    Array.from({ length: worlds }, (_, w) => `w${w}`),
  );
const columnsOf = (i: number): readonly Column[] => [
  category(`c${i}`, ['a', 'b', 'c']),
  number(`x${i}`, '-2', '5'),
  { ...number(`d${i}`, `${first}`, `${first + 60}`, '1'), type: 'integer', date: true } as Column,
  multi(`o${i}`, ['p', 'q']),
];
const cellOf = (draw: Draw, name: string): Cell => {
  if (name.startsWith('c')) return draw.among(['a', 'b', 'c', 'other', null]);
  if (name.startsWith('x')) return draw.among([-9, -2, -1, 0, 1, 2.5, 5, 99, null]);
  if (name.startsWith('d')) return draw.among([first - 9, first, first + 12, first + 43, first + 60, first + 99, null]);
  if (name.startsWith('o')) return draw.among(['p', 'q', 'p;q', ' q ; q', 'z', null]);
  return draw.among(name === 'k' ? ['k0', 'k1', 'k2', null] : ['m0', 'm1', null]);
};
export const typeOf = ({ persons, tables }: DatabaseShape, table: string, name: string): SourceColumn['type'] => {
  if (name === tables.get(table)!.unit) return persons;
  return name.startsWith('x') ? 'real' : name.startsWith('d') ? 'integer' : 'text';
};

export function databaseShape(draw: Draw, worlds: number): DatabaseShape {
  const units = draw.among([
    ['person', 'person', 'person'],
    ['id', 'who', 'person'],
  ]);
  const world = worldColumn(worlds);
  const own = (i: number) => columnsOf(i).map(({ name }) => name);
  const shape = new Map<string, { unit?: string; columns: readonly string[] }>([
    ['people', { unit: units[0]!, columns: [units[0]!, 'w', ...own(0), 'k'] }],
  ]);
  const tables = new Map<string, LinkedTable>();
  for (let i = 1; i <= draw.below(3); i++) {
    const open = i === 2 && draw.chance(0.5);
    const unit = units[i]!;
    const name = `t${i}`;
    shape.set(name, { ...(open ? {} : { unit }), columns: [...(open ? [] : [unit, 'w']), ...own(i), 'k', 'm'] });
    const period = !open && draw.chance(0.4) ? { period: { column: 'm', maxRows: 1 + draw.below(2) } } : {};
    const key = open || draw.chance(0.4) ? { key: draw.among([['k'], ['k', 'm']]) } : {};
    tables.set(name, {
      name,
      ...(open ? {} : { unit }),
      ...key,
      links: ['k'],
      maxRows: open ? 1 : 1 + draw.below(3),
      ...period,
      public: open,
      columns: new Map([...(open ? [] : [world]), ...columnsOf(i), category('m', ['m0', 'm1'])].map((c) => [c.name, c])),
    });
  }
  const policy = samplePolicy([world, ...columnsOf(0)], {
    secret: 'person',
    unit: units[0]!,
    maxRows: 1 + draw.below(2),
    adversary: 'informed',
  });
  return {
    policy: { ...policy, data: { ...policy.data, source: '/people.csv', links: ['k'] }, ...(tables.size > 0 && { tables }) },
    persons: draw.among(['text', 'integer'] as const),
    tables: shape,
  };
}

/** A statement, and the same for each database by itself. */
export interface WorldStatement {
  readonly sql: string;
  readonly each: string;
}

interface Part {
  readonly as: string;
  readonly from: string;
  readonly unit?: string;
  readonly columns: readonly string[];
}

/** Any statement that the grammar of docs/reference/queries/sql.md and docs/how-to/tables.md permits. */
export function randomStatement(draw: Draw, { policy, tables }: DatabaseShape): WorldStatement {
  const names = [...tables.keys()];
  const own = names.filter((name) => tables.get(name)!.unit !== undefined);
  const open = names.find((name) => tables.get(name)!.unit === undefined);
  const withs: string[] = [];
  const table = (name: string, as: string): Part => ({ as, from: `${name} AS ${as}`, ...tables.get(name)! });
  const persons = (as: string): Part => {
    const name = draw.among(own);
    const { unit } = tables.get(name)!;
    const i = name === 'people' ? '0' : name.slice(1);
    const features = [
      'COUNT(*) AS n',
      ...[
        `SUM(x${i}) AS s`,
        `AVG(x${i}) AS xa`,
        `MIN(x${i}) AS xl`,
        `MAX(d${i}) AS dl`,
        `MODE(c${i}) AS cu`,
        `ARG_MIN(c${i}, d${i}) AS cf`,
        `ARG_MAX(x${i}, x${i}) AS xz`,
      ].filter(() => draw.chance(0.6)),
    ];
    const inner = [...tables.get(name)!.columns].map((column) => ({ as: undefined, name: column }));
    const where = draw.chance(0.4) ? ` WHERE ${conditionOf(draw, inner, 1)}` : '';
    const select = `SELECT ${unit}, ${features.join(', ')}, MODE(w) AS w FROM ${name}${where} GROUP BY ${unit}`;
    const columns = features.map((f) => f.split(' AS ')[1]!).map((f) => (f === 'n' || f === 's' ? `x!${f}` : f));
    const made = { as, unit: unit!, columns: [unit!, 'w', ...columns] };
    if (draw.chance(0.5)) return { ...made, from: `(${select}) AS ${as}` };
    withs.push(`f${as} AS (${select})`);
    return { ...made, from: `f${as} AS ${as}` };
  };
  const parts: Part[] = [draw.chance(0.25) ? persons('j') : table(draw.among(own), 'j')];
  const joins = Array.from({ length: draw.below(3) }, (_, i) => {
    const as = `j${i}`;
    const optional = draw.chance(0.35);
    const before = parts.filter((p) => p.columns.includes('k'));
    const word = optional ? 'LEFT JOIN' : 'JOIN';
    if (open && before.length > 0 && draw.chance(0.45)) {
      const part = table(open, as);
      parts.push(part);
      const key = policy.tables!.get(open)!.key!;
      const left = draw.among(before.filter((p) => key.every((k) => p.columns.includes(k))).concat(before));
      return ` ${word} ${part.from} ON ${key
        .filter((k) => left.columns.includes(k))
        .map((k) => `${left.as}.${k} = ${as}.${k}`)
        .join(' AND ')}`;
    }
    const part = draw.chance(0.3) ? persons(as) : table(draw.among(own), as);
    const left = draw.among(parts.filter((p) => p.unit !== undefined));
    const also = ['k', 'm'].filter((k) => part.columns.includes(k) && left.columns.includes(k) && draw.chance(0.35));
    parts.push(part);
    return ` ${word} ${part.from} ON ${[`${left.as}.${left.unit} = ${as}.${part.unit}`, ...also.map((k) => `${left.as}.${k} = ${as}.${k}`)].join(' AND ')}`;
  });
  const all = parts.flatMap(({ as, columns, unit }) =>
    columns.filter((c) => c !== unit && c !== 'w' && c !== 'k').map((name) => ({ as, name })),
  );
  const keys = Array.from({ length: draw.below(3) }, () => keyOf(draw, all));
  const values = Array.from({ length: 1 + draw.below(2) }, () => aggregateOf(draw, all, parts[0]!));
  const where = draw.chance(0.5) ? ` WHERE ${conditionOf(draw, all, 2)}` : '';
  const head = withs.length > 0 ? `WITH ${withs.join(', ')} ` : '';
  const text = (by: readonly string[]) =>
    `${head}SELECT ${values.join(', ')} FROM ${parts[0]!.from}${joins.join('')}${where}${by.length > 0 ? ` GROUP BY ${by.join(', ')}` : ''}`;
  return { sql: text(keys), each: text(['j.w', ...keys]) };
}

interface Named {
  readonly as: string | undefined;
  readonly name: string;
}
const spelt = ({ as, name }: Named) => `${as === undefined ? '' : `${as}.`}${name.replace('x!', '')}`;
const kind = (all: readonly Named[], letters: string) => all.filter(({ name }) => letters.includes(name[0]!));

function keyOf(draw: Draw, all: readonly Named[]): string {
  const [codes, numbers, dates] = [kind(all, 'cmo'), kind(all, 'x'), kind(all, 'd')];
  const forms = [
    ...(codes.length > 0 ? [() => spelt(draw.among(codes)), () => spelt(draw.among(codes))] : []),
    ...(numbers.length > 0 ? [() => `FLOOR(${spelt(draw.among(numbers))} / 3)`] : []),
    ...(dates.length > 0
      ? [() => `MONTH(${spelt(draw.among(dates))})`, () => `DATE_TRUNC('week', ${spelt(draw.among(dates))})`]
      : []),
    () => `CASE WHEN ${conditionOf(draw, all, 1)} THEN 'u' ELSE 'v' END`,
  ];
  return draw.among(forms)();
}

function aggregateOf(draw: Draw, all: readonly Named[], { as, unit }: Part): string {
  const [codes, numbers, dates] = [kind(all, 'cm'), kind(all, 'x'), kind(all, 'd')];
  const filter = draw.chance(0.2) ? ` FILTER (WHERE ${conditionOf(draw, all, 1)})` : '';
  const forms = [
    () => `COUNT(*)${filter}`,
    () => `COUNT(DISTINCT ${as}.${unit})${filter}`,
    ...(codes.length > 0
      ? [() => `COUNT(DISTINCT ${spelt(draw.among(codes))})`, () => `COUNT(${spelt(draw.among(codes))})`]
      : []),
    ...(numbers.length > 0
      ? ['SUM', 'AVG', 'VARIANCE', 'MEDIAN', 'MAX'].map((word) => () => `${word}(${spelt(draw.among(numbers))})${filter}`)
      : []),
    ...(numbers.length > 0 ? [() => `SUM(${spelt(draw.among(numbers))} * 2 - 1) / COUNT(*)`] : []),
    ...(dates.length > 0 ? [() => `AVG(${spelt(draw.among(dates))} - ${spelt(draw.among(dates))})`] : []),
    () => `SUM(CASE WHEN ${conditionOf(draw, all, 1)} THEN 3 ELSE 0 END)`,
  ];
  return draw.among(forms)();
}

function conditionOf(draw: Draw, all: readonly Named[], depth: number): string {
  const [codes, numbers, dates, lists] = [kind(all, 'c'), kind(all, 'x'), kind(all, 'd'), kind(all, 'o')];
  const inner = () => conditionOf(draw, all, depth - 1);
  const forms = [
    ...(codes.length > 0
      ? [() => `${spelt(draw.among(codes))} = 'a'`, () => `${spelt(draw.among(codes))} NOT IN ('a', 'b')`]
      : []),
    ...(numbers.length > 0
      ? [() => `${spelt(draw.among(numbers))} > ${draw.below(3)}`, () => `${spelt(draw.among(numbers))} IS NULL`]
      : []),
    ...(dates.length > 0 ? [() => `${spelt(draw.among(dates))} >= '2023-12-02'`] : []),
    ...(lists.length > 0 ? [() => `${spelt(draw.among(lists))} = 'p'`] : []),
    ...(depth > 1 ? [() => `(${inner()} OR ${inner()})`, () => `NOT (${inner()} AND ${inner()})`] : []),
  ];
  return forms.length > 0 ? draw.among(forms)() : 'TRUE';
}

export type WorldTables = ReadonlyMap<string, readonly (readonly Cell[])[]>;
const people = [0, 1, 2, 3, 4];
const named = (world: number, n: number, persons: DatabaseShape['persons']): Cell =>
  persons === 'integer' ? BigInt(10 * world + n) : `p${world} ${n}`;

function rowsOf(
  draw: Draw,
  { tables }: DatabaseShape,
  table: string,
  world: number,
  person: Cell,
  most: number,
): (readonly Cell[])[] {
  const { unit, columns } = tables.get(table)!;
  const row = () => columns.map((name) => (name === unit ? person : name === 'w' ? `w${world}` : cellOf(draw, name)));
  const rows = Array.from({ length: draw.below(most + 1) }, row);
  return rows.length > 0 && draw.chance(0.4) ? [...rows, draw.among(rows)] : rows;
}

/** Some persons are in the data, some in other tables only, and some rows belong to nobody. */
export const worldOf = (draw: Draw, shape: DatabaseShape, world: number): WorldTables =>
  new Map(
    [...shape.tables].map(([table, { unit }]) => {
      const owners =
        unit === undefined ? [] : [...people.filter(() => draw.chance(0.7)).map((n) => named(world, n, shape.persons)), null];
      return [table, owners.flatMap((owner) => rowsOf(draw, shape, table, world, owner, 3))];
    }),
  );
export const openRows = (draw: Draw, { tables }: DatabaseShape): readonly (readonly Cell[])[] =>
  [...tables.values()].flatMap(({ unit, columns }) =>
    unit === undefined ? Array.from({ length: 5 }, () => columns.map((name) => cellOf(draw, name))) : [],
  );

/** Replaces one person of the data by another, who may have rows in other tables already; rows the first leaves there belong to nobody. */
export function neighbourOf(draw: Draw, shape: DatabaseShape, tables: WorldTables, world: number): WorldTables {
  const there = [...new Set(tables.get('people')!.map(([person]) => person!))].filter((person) => person !== null);
  if (there.length === 0) return tables;
  const gone = draw.among(there);
  const free = people.map((n) => named(world, n, shape.persons)).filter((n) => !there.some((other) => other === n));
  const come = draw.chance(0.5) || free.length === 0 ? gone : draw.among(free);
  const leaves = come !== gone && draw.chance(0.3);
  return new Map(
    [...tables].map(([table, rows]) => {
      if (shape.tables.get(table)!.unit === undefined) return [table, rows];
      const goes = table === 'people' || !leaves;
      const others = rows.filter((row) => (row[0] !== gone || !goes) && (row[0] !== come || draw.chance(0.5)));
      const own = rowsOf(draw, shape, table, world, come, 4);
      const { unit, columns } = shape.tables.get(table)!;
      const one = () => [columns.map((name) => (name === unit ? come : name === 'w' ? `w${world}` : cellOf(draw, name)))];
      // Every new person is in the data.
      const some = table === 'people' && own.length === 0 ? one() : own;
      return [table, draw.chance(0.5) ? [...others, ...some] : [...some, ...others]];
    }),
  );
}
