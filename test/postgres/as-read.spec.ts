import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../src/data/terms/read.js';
import { slicingsOf } from '../../src/data/ties/slicings.js';
import { Binder } from '../../src/query/count/contribution-bound.js';
import { publicPlace } from '../../src/query/count/public-steps.js';
import { placesOfRows } from '../../src/query/count/rows-to-groups.js';
import { openNow } from '../now.js';
import { type DeclaredNumber, days, declaredNumbers, edgeCells, readPublicValue, readValue } from '../read-cells.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('a number in PostgreSQL', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('as_read');
  });
  afterAll(() => town?.close());

  const policyOf = (column: string, table: string, decimal = '') =>
    parsePolicy(
      `data: {source: "${town.address()}", table: ${table}${decimal}}\nprotect: {secret: row}\nbudget: {epsilon: 1}\nledger: ledger.db\ndependence: none\ncolumns: {x: ${column}}\n`,
      '/nowhere/policy.yaml',
    );
  const placesIn = async (of: DeclaredNumber, table: string, decimal = '') => {
    const policy = await policyOf(of.yaml, table, decimal);
    const engine = await openNow(policy);
    const binder = new Binder(engine.dialect);
    const key = { kind: 'grid', column: 'x', width: 1, size: of.last + 1 } as const;
    const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
    const sql = placesOfRows(source, binder, [key], [['"id"', 'id']]);
    const rows = (await engine.rows({ sql: `SELECT id, p0 FROM (${sql}) AS r`, values: binder.values })).open();
    await engine.close();
    return new Map(rows.map(([id, p]) => [Number(id), p === null ? -1 : Number(p)]));
  };

  it.each([...declaredNumbers, days].map((of) => [of.name, of] as const))(
    'a number has its usual value as a double, a text and a text with a comma: %s',
    async (_, of) => {
      const cells = edgeCells(of);
      const meant = cells.map((x) => [x, readValue(of, x)]);
      const comma = (x: number) => `${x}`.replace('.', ',');
      const forms =
        of === days
          ? ([
              ['TEXT', days.text, ''],
              ['DATE', days.text, ''],
            ] as const)
          : ([
              ['DOUBLE PRECISION', String, ''],
              ['TEXT', String, ''],
              ['TEXT', comma, ', decimal: ","'],
            ] as const);
      for (const [type, write, decimal] of forms) {
        const table = await town.table([['id', 'x'], ...cells.map((x, i) => [`${i}`, write(x)])], ['INTEGER', type]);
        const found = await placesIn(of, table, decimal);
        expect([type, cells.map((x, i) => [x, found.get(i)])]).toEqual([type, meant]);
      }
    },
  );

  it.each([...declaredNumbers, days].filter(({ whole }) => whole).map((of) => [of.name, of] as const))(
    'a number of a public column has one value before payment and in the account, even above its bounds: %s',
    async (_, of) => {
      const cells = [...edgeCells(of), ...(of === days ? [] : [-7777])];
      const types = of === days ? ['TEXT', 'DATE'] : ['DOUBLE PRECISION', 'TEXT'];
      for (const type of types) {
        const rows = cells.map((x, i) => [`${i}`, of.text(x)]);
        const table = await town.table([['id', 'x'], ...rows], ['INTEGER', type]);
        const policy = await policyOf(of.yaml.replace(/}$/, ', public: true}'), table);
        const engine = await openNow(policy);
        const { place } = await publicPlace(engine, policy, 'x');
        const read = (await engine.rows({ sql: `SELECT id, ${place}, x FROM fugu_data`, values: [] })).open();
        await engine.close();
        const [slicing] = slicingsOf(policy);
        const found = new Map(
          read.map(([id, p, cell]) => [Number(id), [p === null ? -1 : Number(p), slicing!.read(cell ?? null)]]),
        );
        const meant = cells.map((x) => readPublicValue(of, x));
        expect([type, cells.map((x, i) => [x, ...found.get(i)!])]).toEqual([
          type,
          cells.map((x, i) => [x, meant[i], meant[i]! < 0 ? Number.NaN : of.low + meant[i]!]),
        ]);
      }
    },
  );
});
