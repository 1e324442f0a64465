import { defineConfig } from 'vitest/config';

/** The console in a real browser, against a real service (`npm run test:browser`). */
export default defineConfig({
  test: {
    include: ['test/browser/*.spec.ts'],
    globalSetup: ['test/browser/chromium.ts'],
    pool: 'forks',
    // Thousands of tests ask the same data under budgets of their own.
    env: { FUGU_REGISTRY: 'off' },
    maxWorkers: 1,
    expect: { poll: { timeout: 600_000 } },
    // A busy machine is slow, not wrong; what hangs is ended by the limit of whoever runs the suite.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
