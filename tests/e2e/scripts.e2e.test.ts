/** The scripts of package.json that take options: each refuses a wrong one, and tells those that there are. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { buildIfStale } from './compiled-code.ts';

const run = promisify(execFile);

const { scripts } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const programs = Object.entries(scripts).flatMap(([name, line]) => {
  const program = /^node (dist\/bench\/\S+)$/.exec(line)?.[1];
  return program === undefined ? [] : { name, program };
});

beforeAll(buildIfStale, 120_000);

async function end(program: string, ...words: string[]) {
  const running = run(process.execPath, [program, ...words], { cwd: packageRoot });
  const { code, stdout, stderr } = await running.then(
    (ended) => ({ ...ended, code: 0 }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return { code, stdout, stderr };
}

test.each(programs)('npm run $name tells its usage', async ({ name, program }) => {
  const usage = `usage: npm run ${name} -- `;
  const help = await end(program, '--help');
  expect(help).toEqual({ code: 0, stdout: expect.stringContaining(usage), stderr: '' });
  const wrong = await end(program, '--no-such-option');
  expect(wrong).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(usage) });
  expect(wrong.stderr).toContain("'--no-such-option'");
  expect(wrong.stderr).not.toContain('    at ');
});

test('a value that does not fit is refused with the usage, too', async () => {
  for (const [program, ...words] of [
    ['dist/bench/run.js', 'no-such-benchmark'],
    ['dist/bench/large-graph.js', '--people', '7'],
    ['dist/bench/chaos/run.js', '--minutes', 'many'],
    ['dist/bench/attack/run.js', '--only', 'none'],
    ['dist/bench/drills/failover.js', '--server', 'none'],
  ] as const) {
    const refused = await end(program, ...words);
    expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^usage: /) });
  }
});
