/** The tests that Stryker runs on each mutant: quick ones, without a server. */
import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: [
      'src/core/limits/bucket.test.ts',
      'src/jobs/chunk/afford.test.ts',
      // Without `scanning-time`: code that holds 477 mutants is ten times slower.
      'src/formats/csv/{record-scanner,record-table}.test.ts',
    ],
    env: { PROPERTY_RUNS: '20' },
    setupFiles: ['tests/mutation/same-examples.ts'],
    testTimeout: 60_000,
    maxWorkers: 1,
  },
});
