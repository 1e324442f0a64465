import { afterAll, beforeAll, describe } from 'vitest';
import type { Engine } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { describeEngine } from '../engine-contract.js';
import { ClusterTown, catalogs, cluster } from './town.js';

describe.skipIf(!cluster).each(catalogs)('a cluster with %s', (catalog) => {
  let town: ClusterTown;
  beforeAll(async () => {
    town = await ClusterTown.open(catalog, 'contract');
  });
  afterAll(() => town?.close());

  const tables = new WeakMap<Engine, string>();
  describeEngine(`a table of Trino (${catalog})`, {
    deadline: 20_000,
    open: async (table, friend, limits = {}) => {
      const name = await town.table(table);
      const relations = [{ name: 'friend', table: await town.table(friend), columns: ['a', 'b'], symmetric: true }];
      const engine = await openEngine(town.source(name, { relations }), limits);
      tables.set(engine, name);
      return engine;
    },
    grow: async (engine) => {
      await town.run(`INSERT INTO ${town.of(tables.get(engine)!)} VALUES ('6', '20', 'dem', 'new')`);
    },
    forbidden: [
      'CREATE TABLE memory.default.fugu_should_not_exist (a INTEGER)',
      "SET SESSION query_max_run_time = '1h'",
      'WITH x AS (SELECT 1 AS a) DELETE FROM x',
      'CALL system.runtime.kill_query($1)',
    ],
  });
});
