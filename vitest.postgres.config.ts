import { defineConfig } from 'vitest/config';

/** Tests against a PostgreSQL server of their own (`npm run test:postgres`). */
export default defineConfig({
  test: {
    include: ['test/postgres/*.spec.ts'],
    globalSetup: ['test/postgres/server.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A server that waits for a busy disk is slow, not wrong.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
