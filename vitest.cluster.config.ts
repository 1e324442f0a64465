import { defineConfig } from 'vitest/config';

/** Tests against a Trino cluster of their own (`npm run test:cluster`). */
export default defineConfig({
  test: {
    include: ['test/cluster/*.spec.ts'],
    globalSetup: ['test/cluster/server.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
