import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'samples/**/*.test.ts',
      'workers/**/*.test.ts',
      'infra/**/*.test.ts',
      'tests/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: ['tests/support/postgres-server.ts'],
    // Vitest leaves a core free. Most files wait for servers: on two cores that is half the time.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A second, the default, is little for a browser on a loaded machine.
    expect: { poll: { timeout: 15_000 } },
  },
});
