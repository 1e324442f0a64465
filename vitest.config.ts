import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'forks',
    // Thousands of tests ask the same data under budgets of their own.
    env: { FUGU_REGISTRY: 'off' },
    maxWorkers: 2,
    // A busy machine is slow, not wrong; what hangs is ended by the limit of whoever runs the suite.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 600_000 } },
    passWithNoTests: true,
  },
});
