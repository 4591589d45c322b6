import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'workers/**/*.test.ts',
      'infra/**/*.test.ts',
      'tests/**/*.test.ts',
    ],
    globalSetup: ['tests/support/postgres-server.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
