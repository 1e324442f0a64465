import { defineConfig } from 'vitest/config';

/** Tests against a PostgreSQL server of their own (`npm run test:postgres`). */
export default defineConfig({
  test: {
    include: ['test/postgres/*.spec.ts'],
    globalSetup: ['test/postgres/server.ts'],
    pool: 'forks',
    // Thousands of tests ask the same data under budgets of their own.
    env: { FUGU_REGISTRY: 'off' },
    maxWorkers: 2,
    // A busy machine is slow, not wrong; what hangs is ended by the limit of whoever runs the suite.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
