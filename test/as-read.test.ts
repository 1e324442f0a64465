import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mapFeatures } from '../src/analysis/learn/classify/features.js';
import { predictRow } from '../src/analysis/learn/classify/predict.js';
import { parseClassify } from '../src/analysis/learn/classify/request.js';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { parsePolicy } from '../src/data/terms/read.js';
import { slicingsOf } from '../src/data/ties/slicings.js';
import { checkPolicy, open } from '../src/index.js';
import { gridOf, positionOf } from '../src/policy/grid.js';
import { roundedCells } from '../src/policy/number-reading.js';
import type { NumberColumn, Policy } from '../src/policy/policy.js';
import { pairsClass } from '../src/privacy/mechanism/record-class.js';
import { bindBatch } from '../src/query/bind.js';
import { Binder } from '../src/query/count/contribution-bound.js';
import { countByDatabase, countStreaming } from '../src/query/count/count.js';
import type { Measure } from '../src/query/count/measure.js';
import { numbersToNoise } from '../src/query/count/noisy-cells.js';
import { publicPlace, publicSteps, rowsOfSteps, rowsWithoutStep } from '../src/query/count/public-steps.js';
import { rowCounter } from '../src/query/count/row-counter.js';
import { placesOfRows } from '../src/query/count/rows-to-groups.js';
import { parseBatch } from '../src/query/parse.js';
import { runCommand } from './command.js';
import { openNow } from './now.js';
import { comma, type DeclaredNumber, days, declaredNumbers, edgeCells, readPublicValue, readValue } from './read-cells.js';
import { openWorkshop, type Workshop } from './workshop.js';

let folder: string;
let shop: Workshop;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'fugu-as-read-')));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => shop?.remove());

const yaml = (column: string, more: { pairs?: string; known?: string; data?: string } = {}) =>
  [
    `data: {source: ${more.data ?? 'd.csv'}}`,
    `protect: {secret: row${more.pairs === undefined ? '' : `, pairs: {x: ${more.pairs}}`}}`,
    'budget: {epsilon: 1}',
    'dependence: none',
    ...(more.known === undefined ? [] : [`known: [${more.known}]`]),
    `columns: {x: ${column}}`,
    '',
  ].join('\n');
const policyOf = (column: string, more?: Parameters<typeof yaml>[1]) =>
  parsePolicy(yaml(column, more), join(folder, 'policy.yaml'));

const words = async () => {
  const text = (await runCommand(registerCheck, 'check', shop.policyFile)).replace(/\s+/g, ' ');
  await using fugu = await open(shop.policyFile);
  const { guarantee } = await fugu.plan({ kind: 'count', by: ['x'] }, { epsilon: 0.1 });
  return { text, promise: guarantee.sentences.join(' '), warnings: (await checkPolicy(shop.policyFile)).warnings };
};

describe('the value of a number', () => {
  it('a number is read on its grid, and the promise about blocks names the step', async () => {
    shop = openWorkshop(yaml('{type: number, bounds: [0, 200000], step: 1000}', { pairs: '{partition: {edges: [30000]}, missing: apart}' }), 1); // biome-ignore format: one line
    shop.write('d.csv', 'x\n29400\n29600\n');
    const { text, promise, warnings } = await words();
    const reading =
      'Numbers are compared as they are read in double precision, clamped to their bounds and rounded to their step, halves to an even number of steps from the lower bound: x in steps of 1000 from 0 to 200000.';
    expect(text).toContain(reading);
    expect(promise).toContain(reading);
    expect(warnings.join(' ')).toMatch(
      /At the edge 30000 of "x", cells from 29500 to below 30000 belong to the block above it\. .*in steps of 1000/,
    );
    // The two values lie in two blocks: exact answers distinguish them, as the promise states.
    await using fugu = await open(shop.policyFile);
    const { tables } = await fugu.release({ kind: 'count', where: [{ column: 'x', op: '>=', value: 30000 }] }, { epsilon: 0.1 });
    expect(tables[0]!.rows[0]!.value).toBe(1);
  });

  it('a number in an integer column is read as a whole number, for all cells', async () => {
    shop = openWorkshop(yaml('{type: integer, bounds: [0, 90]}', { pairs: '{within: 1, missing: apart}' }), 1);
    shop.write('d.csv', 'x\n34.5\n35.5\n');
    const { text, promise, warnings } = await words();
    expect(text).toContain('halves to an even number of steps from the lower bound: x as a whole number from 0 to 90.');
    expect(promise).toContain('x as a whole number from 0 to 90.');
    expect(warnings).toEqual([]);
  });

  it('halves are rounded to an even number of steps from the lower bound, as the promise states', async () => {
    shop = openWorkshop(yaml('{type: integer, bounds: [1, 90]}', { pairs: '{partition: {edges: [35]}, missing: apart}' }), 1);
    shop.write('d.csv', 'x\n34.5\n35.5\n34\n');
    const { text, promise } = await words();
    for (const stated of [text, promise])
      expect(stated).toContain('halves to an even number of steps from the lower bound: x as a whole number from 1 to 90.');
    await using fugu = await open(shop.policyFile);
    const { tables } = await fugu.release({ kind: 'count', where: [{ column: 'x', op: '>=', value: 35 }] }, { epsilon: 0.1 });
    // 33.5 and 34.5 steps from 1: both are the value 35.
    expect(tables[0]!.rows[0]).toMatchObject({ value: 2, standardError: 0 });
  });

  it('a warning names a distance that is no multiple of the step', async () => {
    const warned = async (column: string, within: number) => {
      shop?.remove();
      shop = openWorkshop(yaml(column, { pairs: `{within: ${within}, missing: apart}` }), 1);
      shop.write('d.csv', 'x\n1\n');
      return (await checkPolicy(shop.policyFile)).warnings.join(' ');
    };
    expect(await warned('{type: integer, bounds: [0, 90]}', 1.5)).toMatch(
      /within 1\.5, which is no multiple .*Values up to 1 apart/,
    );
    expect(await warned('{type: number, bounds: [0, 9000], step: 1000}', 1500)).toMatch(/Values up to 2000 apart are pairs\. No/);
    expect(await warned('{type: number, bounds: [0, 9000], step: 1000}', 2000)).toBe('');
    expect(await warned('{type: number, bounds: [0, 9], step: 0.1}', 0.3)).toBe('');
  });

  it('known totals and public columns use the value as read, too', async () => {
    for (const more of [{ known: '{count: {where: {x: [18, 64]}}, value: 1}' }, {}]) {
      shop?.remove();
      const known = 'known' in more;
      shop = openWorkshop(yaml(`{type: integer, bounds: [0, 90]${known ? '' : ', public: true'}}`, more), 1);
      shop.write('d.csv', 'x\n20\n');
      const reading = known ? 'x as a whole number from 0 to 90.' : 'x as a whole number from 0 on, not clamped from above.';
      expect((await words()).promise).toContain(reading);
    }
  });

  it('the promise does not mention steps where any two rows are neighbours', async () => {
    shop = openWorkshop(yaml('{type: number, bounds: [0, 9000], step: 1000}'), 1);
    shop.write('d.csv', 'x\n1\n');
    const { text, promise } = await words();
    expect(promise).not.toContain('as they are read');
    expect(text).toContain('halves to an even number of steps from the lower bound, before anything is compared or counted');
  });
});

/** Counts, conditions, sums, quantiles and distributions of one column. */
const queriesOf = ({ low, step, last, text }: DeclaredNumber): readonly object[] => {
  const at = (p: number) => Number((low + p * step).toPrecision(12));
  const isDate = text === days.text;
  const where = (op: string, value: number) => ({
    kind: 'count',
    where: [{ column: 'x', op, value: isDate ? text(Math.ceil(value)) : value }],
  });
  const numeric = [
    { kind: 'sum', column: 'x' },
    { kind: 'sum', column: 'x', where: [{ column: 'x', op: '>=', value: at(2) }] },
    { kind: 'ranges', column: 'x', ranges: [[at(1), at(3)]] },
    { kind: 'sum', column: 'd', derive: { d: { op: '*', of: [2, 'x'] } } },
  ];
  return [
    { kind: 'count', by: ['x'] },
    ...[0, 1, 2.5, 3, last].flatMap((p) => ['>=', '<', '=', '>', '<='].map((op) => where(op, at(p)))),
    { kind: 'mean', column: 'x' },
    { kind: 'variance', column: 'x' },
    { kind: 'quantile', column: 'x', at: [0.5] },
    { kind: 'cdf', column: 'x' },
    ...(isDate ? [] : numeric),
  ];
};

const sizeOf = (x: bigint): bigint => (x < 0n ? -x : x);
const largest = (list: readonly bigint[]): bigint => list.reduce((a, b) => (a > b ? a : b), 0n);

/** The numbers that a row of one cell makes of each measure, noise being added to these. */
function vectorsOf(policy: Policy, measures: readonly Measure[], cell: number | null): readonly (readonly bigint[])[] {
  const counter = rowCounter(measures, ['x'], policy);
  counter.add({ columns: [[cell]], rows: 1 });
  const totals = counter.totals();
  return measures.map((measure, m) => (measure.mechanism === 'ordered' ? numbersToNoise(measure, totals[m]!) : totals[m]!));
}
const differ = (a: readonly bigint[], b: readonly bigint[]): bigint => a.reduce((sum, x, i) => sum + sizeOf(x - b[i]!), 0n);

type Near = (a: number, b: number) => boolean;
/** Cells whose values are a pair and whose measures differ by more than stated. `near` holds positions, -1 for no answer. */
function beyondStated(policy: Policy, of: DeclaredNumber, near: Near): readonly string[] {
  const { digest } = policy.protect.pairs!;
  const cells = [null, ...edgeCells(of)];
  const at = (cell: number | null) => (cell === null ? -1 : readValue(of, cell));
  const { measures } = bindBatch(parseBatch(queriesOf(of)), policy);
  const stated = measures.map(({ sensitivity }) => sensitivity.get(pairsClass(digest))?.l1 ?? 0n);
  const vectors = cells.map((cell) => vectorsOf(policy, measures, cell));
  const wrong: string[] = [];
  for (const [i, a] of cells.entries())
    for (const [j, b] of cells.entries()) {
      const same = at(a) === at(b);
      if (i >= j || !(same || near(at(a), at(b)))) continue;
      for (const [m, most] of stated.entries()) {
        const moved = differ(vectors[i]![m]!, vectors[j]![m]!);
        if (moved > (same ? 0n : most)) wrong.push(`${measures[m]!.name}: ${a} and ${b} differ by ${moved}, stated ${most}`);
      }
    }
  return wrong;
}

describe('the sensitivity stated along pairs', () => {
  it.each([...declaredNumbers, days].map((of) => [of.name, of] as const))(
    'the stated sensitivity covers values within a distance: %s',
    async (_, of) => {
      for (const [steps, missing] of [
        [1, 'apart'],
        [2, 'any'],
        [1.5, 'apart'],
      ] as const) {
        const within = Number((steps * of.step).toPrecision(12));
        const policy = await policyOf(of.yaml, { pairs: `{within: ${within}, missing: ${missing}}` });
        const near: Near = (a, b) => (a < 0 || b < 0 ? missing === 'any' : Math.abs(a - b) <= steps);
        expect(beyondStated(policy, of, near).slice(0, 3)).toEqual([]);
      }
    },
  );

  it.each(declaredNumbers.map((of) => [of.name, of] as const))(
    'the stated sensitivity covers values of one block, and none of two blocks: %s',
    async (_, of) => {
      const inner = [2, 3.5].map((p) => Number((of.low + p * of.step).toPrecision(12)));
      const policy = await policyOf(of.yaml, { pairs: `{partition: {edges: [${inner.join(', ')}]}, missing: apart}` });
      const block = (p: number) => inner.filter((edge) => of.low + p * of.step >= edge - of.step * 1e-9).length;
      const near: Near = (a, b) => a >= 0 && b >= 0 && block(a) === block(b);
      expect(beyondStated(policy, of, near).slice(0, 3)).toEqual([]);
      // At the start of a block, condition and block agree: no sensitivity is stated, so nothing may change inside a block.
      const [measure] = bindBatch(
        parseBatch({ kind: 'count', where: [{ column: 'x', op: '>=', value: inner[0] }] }),
        policy,
      ).measures;
      expect(measure!.sensitivity.size).toBe(0);
    },
  );

  it.each(declaredNumbers.filter(({ whole }) => !whole).map((of) => [of.name, of] as const))(
    'the stated sensitivity covers cells within a distance even if cells may lie between steps: %s',
    async (_, of) => {
      const policy = await policyOf(of.yaml, { pairs: `{within: ${of.step}, missing: apart}` });
      const { digest } = policy.protect.pairs!;
      const [measure] = bindBatch(parseBatch({ kind: 'sum', column: 'x' }), policy).measures;
      const stated = measure!.sensitivity.get(pairsClass(digest))!.l1;
      const cells = edgeCells(of).filter((x) => Math.abs(x) < 1e29);
      const vectors = cells.map((cell) => vectorsOf(policy, [measure!], cell)[0]!);
      const moved = cells.flatMap((a, i) =>
        cells.flatMap((b, j) => (Math.abs(a - b) <= of.step ? [differ(vectors[i]!, vectors[j]!)] : [])),
      );
      expect(largest(moved)).toBe(stated);
    },
  );

  it.each(declaredNumbers.map((of) => [of.name, of] as const))(
    'the stated sensitivity is zero for known totals: %s',
    async (_, of) => {
      for (const p of [1, 2.5, 3]) {
        const [low, high] = [p, of.last].map((at) => Number((of.low + at * of.step).toPrecision(12)));
        const policy = await policyOf(of.yaml, { known: `{count: {where: {x: [${low}, ${high}]}}, value: 1}` });
        const where = [{ column: 'x', op: '>=', value: low }];
        const [measure] = bindBatch(parseBatch({ kind: 'count', where }), policy).measures;
        expect(measure!.sensitivity.size).toBe(0);
        const inside = (cell: number) => readValue(of, cell) >= p;
        for (const cell of edgeCells(of))
          expect([cell, vectorsOf(policy, [measure!], cell)[0]![0]]).toEqual([cell, inside(cell) ? 1n : 0n]);
      }
    },
  );
});

describe('cells on the other side of an edge', () => {
  it.each(declaredNumbers.map((of) => [of.name, of] as const))(
    'the cells that cross an edge are those that are read across it: %s',
    async (_, of) => {
      const column = (await policyOf(of.yaml)).columns.get('x') as NumberColumn;
      const grid = gridOf(column);
      for (const p of [1, 1.5, 2.25, 3, of.last]) {
        const edge = Number((of.low + p * of.step).toPrecision(12));
        const start = Math.ceil(p);
        const found = roundedCells(column, edge, start);
        const cells = edgeCells(of).filter((x) => column.type !== 'integer' || Number.isInteger(x));
        const across = cells.filter((x) => x >= edge !== positionOf(grid, x) >= start);
        if (found) expect(across.every((x) => x >= found.low && x < found.high && x < edge === found.upward)).toBe(true);
        else expect(across).toEqual([]);
      }
    },
  );
});

describe('values read by DuckDB and by TypeScript', () => {
  const places = async (of: DeclaredNumber, text: string, data = 'd.csv') => {
    shop = openWorkshop(yaml(of.yaml, { data }), 1);
    shop.write('d.csv', text);
    const policy = await parsePolicy(yaml(of.yaml, { data }), shop.policyFile);
    const engine = await openNow(policy);
    const binder = new Binder(engine.dialect);
    const key = { kind: 'grid', column: 'x', width: 1, size: of.last + 1 } as const;
    const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
    const sql = placesOfRows(source, binder, [key], [['"id"', 'id']]);
    const rows = (await engine.rows({ sql: `SELECT id, p0 FROM (${sql}) AS r`, values: binder.values })).open();
    await engine.close();
    return new Map(rows.map(([id, p]) => [Number(id), p === null ? -1 : Number(p)]));
  };
  const agree = async (of: DeclaredNumber, write: (x: number) => string, data?: string) => {
    const cells = edgeCells(of);
    const found = await places(of, `id${data ? ';' : ','}x\n${cells.map((x, i) => `${i}${data ? ';' : ','}${write(x)}`).join('\n')}\n`, data); // biome-ignore format: one line
    expect(cells.map((x, i) => [x, found.get(i)])).toEqual(cells.map((x) => [x, readValue(of, x)]));
  };

  it.each([...declaredNumbers, days].map((of) => [of.name, of] as const))(
    'DuckDB and TypeScript give every cell one value: %s',
    async (_, of) => {
      await agree(of, of.text);
      const column = (await policyOf(of.yaml)).columns.get('x') as NumberColumn;
      for (const x of edgeCells(of)) expect([x, positionOf(gridOf(column), x)]).toEqual([x, readValue(of, x)]);
    },
  );

  it.each(declaredNumbers.map((of) => [of.name, of] as const))(
    'DuckDB and TypeScript give every cell one value with decimal commas: %s',
    async (_, of) => {
      await agree(of, comma, 'd.csv, decimal: ","');
    },
  );

  it('a number with a decimal comma is read alike when its column declares how rows are tied', async () => {
    const of = declaredNumbers.find(({ name }) => name === 'number 0 0.5')!;
    const sums = async (dependence: string) => {
      shop?.remove();
      const text = yaml(of.yaml, { data: 'd.csv, decimal: ","' }).replace('dependence: none', `dependence: ${dependence}`);
      shop = openWorkshop(text.replace('epsilon: 1', 'epsilon: 19'), 1);
      shop.write('d.csv', 'x;y\n"1,5";1\n"1,5";1\n"2,5";1\n"0,5";1\n1.5;1\n');
      const policy = await parsePolicy(text, shop.policyFile);
      const engine = await openNow(policy);
      const { measures } = bindBatch(parseBatch({ kind: 'sum', column: 'x' }), policy);
      const ways = [await countByDatabase(engine, policy, measures), await countStreaming(engine, policy, measures)];
      await engine.close();
      return ways.map((counts) => counts.map((each) => each.open()));
    };
    const ties = '[{kind: groups, by: x, maxSize: 9, oddsRatio: 2}]';
    expect(await sums(ties)).toEqual([[[12n]], [[12n]]]);
    expect(await sums('none')).toEqual(await sums(ties));
  });
});

describe('a public column of whole numbers', () => {
  const whole = [...declaredNumbers, days].filter((of) => of.whole);
  const publicly = (of: DeclaredNumber, more: Parameters<typeof yaml>[1] = {}) =>
    yaml(of.yaml.replace(/}$/, ', public: true}'), more);
  /** Each cell as SQL reads it before payment and as slices do, and the rows of steps of one and of two. */
  const bothReadings = async (text: string, of: DeclaredNumber, write: (x: number) => string) => {
    const cells: readonly (number | string)[] = [...edgeCells(of), ...(of === days ? [] : [-7777]), 'none', ''];
    shop?.remove();
    shop = openWorkshop(text, 1);
    const mark = text.includes('decimal') ? ';' : ',';
    const written = cells.map((x) => (typeof x === 'number' ? write(x) : x));
    shop.write('d.csv', `id${mark}x\n${written.map((x, i) => `${i}${mark}${x}`).join('\n')}\n`);
    const policy = await parsePolicy(text, shop.policyFile);
    const engine = await openNow(policy);
    const { place, last } = await publicPlace(engine, policy, 'x');
    const rows = (await engine.rows({ sql: `SELECT id, ${place}, x FROM fugu_data`, values: [] })).open();
    const counts = await Promise.all(
      [1, 2].map(async (width) => {
        const steps = publicSteps(policy, 'x', width);
        return { width, rows: await rowsOfSteps(engine, policy, steps), without: await rowsWithoutStep(engine, policy, steps) };
      }),
    );
    const [slicing] = slicingsOf(policy);
    await engine.close();
    const inSql = new Map(rows.map(([id, p]) => [Number(id), p === null ? -1 : Number(p)]));
    const inSlices = new Map(rows.map(([id, , cell]) => [Number(id), slicing!.read(cell ?? null)]));
    const meant = cells.map((x) => (typeof x === 'number' ? readPublicValue(of, x) : -1));
    expect(cells.map((x, i) => [x, inSql.get(i)])).toEqual(cells.map((x, i) => [x, meant[i]]));
    expect(cells.map((x, i) => [x, inSlices.get(i)])).toEqual(cells.map((x, i) => [x, meant[i]! < 0 ? Number.NaN : of.low + meant[i]!])); // biome-ignore format: one line
    // A count reads this value clamped, so no row is unpaid at one step and paid at another.
    const grid = gridOf(policy.columns.get('x') as NumberColumn);
    for (const [i, x] of cells.entries()) if (typeof x === 'number') expect([x, positionOf(grid, x)]).toEqual([x, Math.min(meant[i]!, grid.last)]); // biome-ignore format: one line
    expect(last).toBe(of.last);
    for (const { width, rows: found, without } of counts) {
      const inside = meant.filter((p) => p >= 0 && p <= of.last);
      expect([width, [...found]]).toEqual([width, Array.from(found, (_, k) => inside.filter((p) => Math.floor(p / width) === k).length)]); // biome-ignore format: one line
      expect(without).toBe(meant.length - inside.length);
    }
  };

  it.each(whole.map((of) => [of.name, of] as const))(
    'a public cell has one value before payment and in the account, below, at and above its bounds, at halves and without a number: %s',
    async (_, of) => {
      await bothReadings(publicly(of), of, of.text);
    },
  );

  it.each(whole.filter((of) => of !== days).map((of) => [of.name, of] as const))(
    'a public cell with a decimal comma has one value, even if its column is a name: %s',
    async (_, of) => {
      const text = publicly(of, { data: 'd.csv, decimal: ","' });
      await bothReadings(text, of, comma);
      await bothReadings(text.replace('dependence: none', 'dependence: [{kind: groups, by: x, maxSize: 99, oddsRatio: 2}]'), of, comma); // biome-ignore format: one line
    },
  );

  it('a public column is read beyond every upper bound that a policy may declare', async () => {
    const last = 2 ** 31;
    const wide = await policyOf(`{type: integer, bounds: [0, ${last}], public: true}`);
    expect([last - 1, last, last + 1].map((x) => slicingsOf(wide)[0]!.read(x))).toEqual([last - 1, last, last + 1]);
    const far = await policyOf(`{type: integer, bounds: [${2 ** 48 - 9}, ${2 ** 48 - 2}], public: true}`);
    expect(slicingsOf(far)[0]!.read(2 ** 48)).toBe(2 ** 48);
  });

  it('the promise treats numbers above the upper bound of a public column as different values', async () => {
    shop = openWorkshop(yaml('{type: integer, bounds: [1, 3], public: true}'), 1);
    shop.write('d.csv', 'x\n1\n2\n3\n4\n60\n');
    const { text, promise } = await words();
    const reading = 'x as a whole number from 1 on, not clamped from above.';
    expect(promise).toContain(reading);
    expect(text).toContain(reading);
    expect(promise).not.toContain('to 3');
  });
});

describe('another reading of the same cells', () => {
  const dated = (column: string, protect = '{secret: row}') =>
    `data: {source: d.csv}\nprotect: ${protect}\nbudget: {epsilon: 1}\ndependence: none\ncolumns: {day: ${column}, x: {type: category, values: [1, 2]}}\n`;
  const asDays = '{type: date, bounds: [2020-01-01, 2020-01-31], public: true}';
  const asNumbers = '{type: integer, bounds: [18262, 18292], public: true}';
  const rows = Array.from({ length: 40 }, (_, i) => `2020-01-0${1 + (i % 9)},${1 + (i % 2)}`).join('\n');

  it('reading a public day differently opens no new budget: costs of days count for everybody', async () => {
    shop = openWorkshop(dated(asDays), 1);
    shop.write('d.csv', `day,x\n${rows}\n`);
    const release = async (...where: object[]) => {
      await using fugu = await open(shop.policyFile);
      const request = { kind: 'count', where: [...where, { column: 'x', op: '=', value: '1' }] };
      return await fugu.release(request as { kind: 'count' }, { epsilon: 1 });
    };
    await release({ column: 'day', op: '=', value: '2020-01-03' });
    // The same rows have no number at all.
    shop.write('policy.yaml', dated(asNumbers));
    await expect(release({ column: 'day', op: 'missing' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('reading days differently changes the promise about pairs of days', async () => {
    const pairs = '{secret: row, pairs: {day: {within: 5}}}';
    const file = join(folder, 'policy.yaml');
    const [ofDays, ofNumbers] = await Promise.all([asDays, asNumbers].map((column) => parsePolicy(dated(column, pairs), file)));
    expect(ofDays!.protect.pairs!.digest).not.toBe(ofNumbers!.protect.pairs!.digest);
    expect(ofDays!.digest).not.toBe(ofNumbers!.digest);
  });

  it('reading a text file differently changes the promise about pairs and known totals', async () => {
    const file = join(folder, 'policy.yaml');
    const text = (data: string, more: string) =>
      `data: {source: d.csv${data}}\n${more}\nbudget: {epsilon: 1}\ndependence: none\ncolumns: {x: {type: category, values: [é, b]}}\n`;
    for (const more of ['protect: {secret: row, pairs: {same: [x]}}', 'protect: {secret: row}\nknown: [{margin: x}]']) {
      const [plain, encoded] = await Promise.all(
        ['', ', encoding: macintosh'].map((data) => parsePolicy(text(data, more), file)),
      );
      expect(encoded!.digest).not.toBe(plain!.digest);
    }
  });
});

describe('a released classifier', () => {
  it.each(declaredNumbers.map((of) => [of.name, of] as const))(
    'the classifier puts a cell into the bin it was learned in: %s',
    async (_, of) => {
      const edges = [1, 2.5, 4].map((p) => Number((of.low + p * of.step).toPrecision(12)));
      const whole = of.yaml.startsWith('{type: integer') ? edges.map(Math.ceil) : edges;
      const column = of.yaml.replace('{', `{bins: [${whole.join(', ')}], `);
      const text = yaml(column).replace(/\n$/, '').replace(/}$/, ', y: {type: category, values: [a, b]}}\n');
      const policy = await parsePolicy(text, join(folder, 'policy.yaml'));
      const { features } = mapFeatures(policy, parseClassify({ label: 'y', positive: ['a'], features: ['x'] }));
      const { terms, entry } = features[0]!;
      const grid = gridOf(policy.columns.get('x') as NumberColumn);
      const weights = terms.map((term, k) => ({ ...term, weight: k }));
      for (const x of edgeCells(of).filter((cell) => !of.whole || Number.isInteger(cell)))
        expect([x, predictRow({ model: 'svm', intercept: 0, weights }, { x }).score]).toEqual([x, entry(positionOf(grid, x))]);
    },
  );
});
