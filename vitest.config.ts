import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const shared = {
  pool: 'forks' as const,
  // Thousands of tests ask the same data under budgets of their own.
  env: { FUGU_REGISTRY: 'off' },
  // A busy machine is slow, not wrong; what hangs is ended by the limit of whoever runs the suite.
  testTimeout: 900_000,
  hookTimeout: 900_000,
  setupFiles: [fileURLToPath(new URL('test/seed.ts', import.meta.url))],
  expect: { poll: { timeout: 600_000 } },
};
const tests = '{src,console,test,examples}/**/*.test.ts';

/**
 * Two tiers: `fast` (`npm cit`) and `deep` (`npm run test:deep`): statistical audits, coverage, fuzzing, races and planted faults,
 * in files named *.deep.test.ts. `npx vitest run FILE` runs a file of either.
 */
export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: true,
    projects: [
      { test: { ...shared, name: 'fast', include: [tests], exclude: [...configDefaults.exclude, '**/*.deep.test.ts'] } },
      { test: { ...shared, name: 'deep', include: [tests.replace('.test.ts', '.deep.test.ts')] } },
    ],
  },
});
