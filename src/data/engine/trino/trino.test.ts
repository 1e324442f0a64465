import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { withSnapshot } from '../engine.js';
import { relationView } from '../structure.js';
import { openTrino } from './trino.js';

/** A coordinator that has one table and records the requests. */
const requests: string[] = [];
const server = createServer((request, answer) => {
  let sql = '';
  request.on('data', (part) => (sql += part));
  request.on('end', () => {
    requests.push(sql);
    const table = ['id', 'boss', 'much'].map((name) => ({ name, type: 'varchar' }));
    const [columns, data] = /connector_name/.test(sql)
      ? [[{ name: 'made', type: 'varchar' }], [['tpch']]]
      : [/LIMIT 0$/.test(sql) ? table : [{ name: 'x', type: 'varchar' }], []];
    answer.end(JSON.stringify({ id: 'q', stats: { state: 'FINISHED' }, columns, data }));
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it('ties in the data itself are read by their text, even if only numbers are read of that column elsewhere', async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const source = `trino://reader@127.0.0.1:${(server.address() as AddressInfo).port}/lake/town?sslmode=disable`;
  const relations = [{ name: 'boss', table: 'people', columns: ['id', 'boss'], symmetric: false, odds: 'much' }];
  const numbers = { numbers: new Set(['boss', 'much']), commas: new Set(['much']), codes: new Set<string>() };
  const limits = { memory: 1e9, spill: 1e9, deadline: 600_000, release: 600_000, threads: 1 };
  const engine = await openTrino({ source, table: 'people', relations, ...numbers }, limits);
  const sqlOf = async (sql: string) => {
    await withSnapshot(engine, (data) => data.rows({ sql, values: [] }));
    return requests.at(-1)!;
  };
  expect(await sqlOf('SELECT "boss" FROM fugu_data')).toMatch(/TRY_CAST\(CAST\("boss" AS VARCHAR\) AS DOUBLE\)/);
  const ties = await sqlOf(`SELECT c0, c1 FROM ${relationView('boss')}`);
  expect(ties).toContain('CAST("id" AS VARCHAR) AS c0, CAST("boss" AS VARCHAR) AS c1');
  expect(ties).not.toContain(`replace(CAST("much" AS VARCHAR), ',', '.')`);
  await engine.close();
});
