/**
 * A real browser for tests: the system's Chromium. Where none is installed its tests are skipped with a
 * line that says so, and fail with CI set.
 */
import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';
import { describe } from 'vitest';

const program = ['chromium', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);
if (program === undefined && process.env.CI) {
  throw new Error('chromium not found: install it, CI must not skip these tests');
}
if (program === undefined) process.stderr.write('skipped: chromium not found\n');

/** `describe` for tests that open a browser. */
export const describeWithBrowser = program === undefined ? describe.skip : describe;

/** Starts the browser; the caller closes it. */
export async function startBrowser(): Promise<Browser> {
  const { stdout } = spawnSync('which', [program ?? ''], { encoding: 'utf8' });
  // Chromium's own sandbox needs rights that containers, and root, do not have.
  return chromium.launch({ executablePath: stdout.trim(), args: ['--no-sandbox'] });
}
