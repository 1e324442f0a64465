import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Draw, drawing } from '../../../test/neighbouring-databases.js';
import { category, multi, number, samplePolicy } from '../../../test/sample-policy.js';
import { smallDatabase } from '../../../test/tables-of-persons.js';
import { duckdb } from '../../data/engine/duckdb/dialect.js';
import { type Cell, type Snapshot, withSnapshot } from '../../data/engine/engine.js';
import { openEngine } from '../../data/terms/open.js';
import type { Pairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../bind.js';
import { parseSql } from '../sql/sql.js';
import { publicRecordCount } from './contribution-bound.js';
import { countCells } from './count.js';

let database: Awaited<ReturnType<typeof smallDatabase>>;
beforeAll(async () => {
  database = await smallDatabase();
});
afterAll(() => database.close());

const columns = [category('c', ['a', 'b', 'd']), number('x', '0', '3'), multi('o', ['p', 'q'])];
/** Codes and blanks around them, undeclared ones, nothing. */
const cells: Readonly<Record<string, readonly Cell[]>> = {
  c: ['a', ' a', 'a\t', 'b', 'd ', 'z', 'zz', '', null],
  x: [0, 1, 2, 3, 7, null],
  o: ['p', 'q', 'p;q', ' q ; p', 'r', null],
};
const persons = { text: ['ann', ' ann', 'bob', 'cid', '1', '1.0', '', null], integer: [1, 2, 3, 4, null] } as const;

const rowsOf = (draw: Draw, who: keyof typeof persons): Cell[][] =>
  Array.from({ length: draw.below(14) }, () => [
    draw.among<Cell>(persons[who]),
    draw.among(cells.c!),
    draw.among(cells.x!),
    draw.among(cells.o!),
  ]);
const holding = (rows: readonly Cell[][], who: keyof typeof persons, holds?: number): Snapshot =>
  database.pinned(
    new Map([
      [
        'data',
        {
          columns: [
            { name: 'who', type: who },
            { name: 'c', type: 'text' },
            { name: 'x', type: 'integer' },
            { name: 'o', type: 'text' },
          ],
          rows,
        },
      ],
    ]),
    holds === undefined ? {} : { holds },
  );
const counted = async (data: Snapshot, policy: Policy, sql: string) =>
  (await countCells(data, policy, bindBatch(parseSql(sql, policy), policy).measures)).map((found) => found.open());

describe('rows of a person beyond the limit', () => {
  const pairs: Pairs = {
    digest: '',
    declarations: [],
    columns: new Map([['x', { form: 'steps', steps: 1, missing: 'apart', size: 4 }]]),
  };
  const questions =
    'SELECT c, COUNT(*), SUM(x), COUNT(DISTINCT x) FROM data GROUP BY c; SELECT o, COUNT(DISTINCT who) FROM data GROUP BY o';

  it.each([
    ['chosen', undefined],
    ['left out with all others of theirs', pairs],
  ])(
    'rows beyond the limit are %s, both when looked up once and when chosen by every statement',
    async (_, own) => {
      const draw = drawing(11);
      for (let turn = 0; turn < 25; turn++) {
        const who = draw.among(['text', 'integer'] as const);
        const policy = samplePolicy(columns, {
          secret: 'person',
          unit: 'who',
          maxRows: 1 + draw.below(3),
          ...(own && { pairs: own }),
        });
        const rows = rowsOf(draw, who);
        const truth = await counted(holding(rows, who), policy, questions);
        for (const holds of [0, 2, 1000]) expect(await counted(holding(rows, who, holds), policy, questions)).toEqual(truth);
      }
    },
    60_000,
  );
});

describe('a table of many columns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-chosen-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['of which one is declared', 1, 64],
    ['all of them declared', 400, 96],
  ])(
    'a table of many columns is answered in little memory, with or without rows beyond the limit: %s',
    async (_, declared, memory) => {
      const names = Array.from({ length: 400 }, (__, k) => `q${k}`);
      const codes = ['0', '1', '2'];
      const policy = samplePolicy(
        names.slice(0, declared).map((name) => category(name, codes)),
        { secret: 'person', unit: 'who', maxRows: 2 },
      );
      for (const many of [1, 4]) {
        const source = join(folder, `wide-${declared}-${many}.csv`);
        const rows = Array.from({ length: 12 }, (__, i) => [i < many ? 'ann' : `p${i}`, ...names.map((___, k) => (i + k) % 3)]);
        writeFileSync(source, [['who', ...names], ...rows].map((row) => `${row.join(',')}\n`).join(''));
        const engine = await openEngine({ source }, { memory: memory * 1024 ** 2, threads: 1 });
        const [cells] = await withSnapshot(engine, (data) => counted(data, policy, 'SELECT q0, COUNT(*) FROM data GROUP BY q0'));
        expect(cells!.reduce((sum, n) => sum + n, 0n)).toBe(BigInt(12 - Math.max(0, many - 2)));
        await engine.close();
      }
    },
  );
});

describe('persons of different spelling', () => {
  const nameOf = (cell: Cell): string | undefined => {
    const name = `${cell ?? ''}`.trim();
    return name === '' ? undefined : name === '1.0' ? '1' : name;
  };
  const codeOf = (cell: Cell): number => {
    const place = ['a', 'b', 'd'].indexOf(`${cell ?? ''}`.trim());
    return place < 0 ? 3 : place;
  };
  const optionsOf = (cell: Cell): readonly number[] => {
    const named = `${cell ?? ''}`.split(';').map((part) => ['p', 'q'].indexOf(part.trim()));
    const places = [...new Set(named.filter((place) => place >= 0))];
    return places.length > 0 ? places : [2];
  };
  const policy = samplePolicy(columns, { secret: 'person', unit: 'who', maxRows: 14 });
  const questions: readonly (readonly [string, number, (row: readonly Cell[]) => readonly number[]])[] = [
    ['SELECT COUNT(DISTINCT who) FROM data', 1, () => [0]],
    ['SELECT c, COUNT(DISTINCT who) FROM data GROUP BY c', 4, (row) => [codeOf(row[1]!)]],
    ['SELECT o, COUNT(DISTINCT who) FROM data GROUP BY o', 3, (row) => optionsOf(row[3]!)],
    [
      'SELECT c, o, COUNT(DISTINCT who) FROM data GROUP BY c, o',
      12,
      (row) => optionsOf(row[3]!).map((o) => 3 * codeOf(row[1]!) + o),
    ],
    [
      "SELECT CASE WHEN c IN ('a', 'b') THEN 'ab' ELSE 'else' END AS k, COUNT(DISTINCT who) FROM data WHERE c IS NOT NULL GROUP BY k",
      3,
      (row) => (codeOf(row[1]!) === 3 ? [] : [codeOf(row[1]!) < 2 ? 0 : 1]),
    ],
  ];

  it.each(questions)(
    'different persons are counted as such however their answers are spelt: %s',
    async (sql, size, cellsOf) => {
      const draw = drawing(5);
      for (let turn = 0; turn < 25; turn++) {
        const who = draw.among(['text', 'integer'] as const);
        const rows = rowsOf(draw, who);
        const found = Array.from({ length: size }, () => new Set<string>());
        for (const row of rows)
          for (const cell of cellsOf(row)) if (nameOf(row[0]!) !== undefined) found[cell]!.add(nameOf(row[0]!)!);
        const truth = [found.map((names) => BigInt(names.size))];
        const data = holding(rows, who);
        const { once: _, ...twice } = duckdb;
        // A database that works out a named query every time counts them in another way.
        for (const dialect of [duckdb, twice]) {
          const seen: Snapshot = Object.defineProperty({ ...data, dialect }, 'whole', { get: () => seen });
          expect(await counted(seen, policy, sql)).toEqual(truth);
        }
        const all = new Set(rows.flatMap((row) => nameOf(row[0]!) ?? []));
        expect(await publicRecordCount(data, policy)).toBe(all.size);
      }
    },
    60_000,
  );
});
