/**
 * A real browser for tests: the system's Chromium. Without one its tests are skipped with a message, and fail
 * when CI is set.
 */
import { describe } from 'vitest';
import { findChromium } from '../../bench/browser.ts';

const isThere = findChromium() !== null;
if (!isThere && process.env.CI) {
  throw new Error('chromium not found: install it, CI must not skip these tests');
}
if (!isThere) process.stderr.write('skipped: chromium not found\n');

/** `describe` for tests that open a browser. */
export const describeWithBrowser = isThere ? describe : describe.skip;
