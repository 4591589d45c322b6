import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SecondAttempts } from './tests/support/second-attempts.ts';

const all = ['bench', 'infra', 'samples', 'src', 'tests', 'workers'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
const withServers = ['**/*.pg.test.ts', 'tests/e2e/**/*.test.ts'];
/**
 * Each runs in a process of its own: the first two examine what a process counts in all, the others watch a module, which is
 * possible only where no other file has loaded it before.
 */
const ownProcess = [
  'src/jobs/monitor/metrics.pg.test.ts',
  'workers/stack-metrics.test.ts',
  'src/api/http/short-pages.pg.test.ts',
  'src/api/console/console-assets.test.ts',
  'src/core/identifiers/domain.test.ts',
  'src/mapping/columns.test.ts',
];

// A machine that does much else needs twenty times as long for a test of a second or two.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A second, the default, is little for a browser on a loaded machine.
  expect: { poll: { timeout: 30_000 } },
};
// Files share the modules of their process: to load them for each took a third of the suite's time.
const shared = { ...patience, isolate: false };

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    globalSetup: ['tests/support/postgres-server.ts'],
    reporters: ['default', new SecondAttempts()],
    // Vitest leaves a core free. Most files wait for servers, so one more than the cores is faster.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          ...shared,
          name: 'quick',
          include: all,
          exclude: [...withServers, ...ownProcess],
        },
      },
      { test: { ...shared, name: 'servers', include: withServers, exclude: ownProcess } },
      { test: { ...patience, name: 'alone', include: ownProcess } },
    ],
  },
});
