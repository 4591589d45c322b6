/** Config of the SQL mutants, run in sequence: each runs tests itself. */
import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ['tests/mutation/sql-mutants.mutation.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['verbose'],
  },
});
