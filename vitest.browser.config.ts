import { defineConfig } from 'vitest/config';

/** The console in a real browser, against a real service (`npm run test:browser`). */
export default defineConfig({
  test: {
    include: ['test/browser/*.spec.ts'],
    globalSetup: ['test/browser/chromium.ts'],
    pool: 'forks',
    maxWorkers: 1,
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
