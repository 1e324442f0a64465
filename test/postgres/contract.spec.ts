import { afterAll, beforeAll, describe } from 'vitest';
import type { Engine } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { describeEngine } from '../engine-contract.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('a server', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('contract');
  });
  afterAll(() => town?.close());

  const tables = new WeakMap<Engine, string>();
  describeEngine('a table of PostgreSQL', {
    open: async (table, friend, limits = {}) => {
      const name = await town.table(table);
      const relations = [{ name: 'friend', table: await town.table(friend), columns: ['a', 'b'], symmetric: true }];
      const engine = await openEngine(town.source(name, { relations }), limits);
      tables.set(engine, name);
      return engine;
    },
    grow: async (engine) => {
      await town.run(`INSERT INTO ${tables.get(engine)} VALUES ('6', '20', 'dem', 'new')`);
    },
    forbidden: [
      "SELECT pg_read_file('/etc/passwd')",
      "COPY (SELECT 1) TO '/tmp/fugu-should-not-exist.csv'",
      'CREATE TABLE fugu_should_not_exist (a INTEGER)',
      'CREATE TEMP TABLE fugu_should_not_exist (a INTEGER)',
      'ALTER SYSTEM SET work_mem = $1',
    ],
  });
});
