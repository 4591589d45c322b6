/** The system's Chromium, for tests and measurements that need a real browser. */
import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';
import { assert } from '../src/core/lib/assert.ts';

/** The path of the browser; null when none is installed. */
export function findChromium(): string | null {
  // The first is Chromium without its window: the same pages for a third less CPU.
  for (const name of ['chromium-headless-shell', 'chromium', 'google-chrome']) {
    const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return null;
}

/** Starts it; the caller closes it. Throws when none is installed. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  assert(executablePath !== null, 'Chromium is installed');
  // Its own sandbox needs rights that containers, and root, do not have.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
