/** The log of a process whose stderr accepts no more lines. */
import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { buildIfStale } from './compiled-code.ts';

beforeAll(buildIfStale, 120_000);

/** Logs more than any pipe buffers, and reports on stdout that it is alive. */
const script = `
  import { setImmediate } from 'node:timers/promises';
  import { createLog } from ${JSON.stringify(path.join(packageRoot, 'dist/src/core/log.js'))};
  const log = createLog('info', 'test');
  for (let line = 0; line < 20_000; line++) {
    log.info('a line that may find no room');
    if (line % 1_000 === 0) process.stderr.write('another one\\n');
    if (line % 1_000 === 0) await setImmediate();
  }
  log.fatal('the last one');
  process.stdout.write('alive');
  process.exit(0);`;

/** The stdout of the script with this stderr. */
async function runScript(stderr: number | 'pipe'): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', stderr],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return await text(must(child.stdout, 'stdout'));
}

describe('a process whose log cannot be written continues', () => {
  it.skipIf(!existsSync('/dev/full'))('when the disk is full', async () => {
    expect(await runScript(openSync('/dev/full', 'w'))).toBe('alive');
  });

  it('when no one reads the pipe', async () => {
    expect(await runScript('pipe')).toBe('alive');
  });
});
