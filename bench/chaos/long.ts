/** `npm run long`: many rounds, one after the other, with a log that says how each ended. */
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { packageRoot } from '../../src/core/lib/package-root.ts';

const run = promisify(execFile);

interface Round {
  backend: 'embedded' | 'redis';
  seed: number;
}

/** Seeds from 1, each on both backends. */
function planRounds(seeds: number): Round[] {
  return Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) => [
    { backend: 'embedded' as const, seed },
    { backend: 'redis' as const, seed },
  ]);
}

/** Runs one round; what it printed in the end, and the whole of it when it is red. */
async function runOne({ backend, seed }: Round, minutes: string): Promise<object> {
  const program = path.join(import.meta.dirname, 'run.js');
  const words = [program, '--seed', String(seed), '--minutes', minutes, '--backend', backend];
  try {
    const { stdout } = await run(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
    return { ok: true, ...(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as object) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    return { ok: false, seed, code, stdout, stderr };
  }
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '12' },
    minutes: { type: 'string', default: '4' },
    log: {
      type: 'string',
      default: path.join(packageRoot, 'bench', 'results', 'chaos-long.jsonl'),
    },
  },
});
let red = 0;
for (const round of planRounds(Number(values.seeds))) {
  const result = await runOne(round, values.minutes);
  const time = new Date().toISOString();
  const line = JSON.stringify({ time, backend: round.backend, minutes: values.minutes, ...result });
  appendFileSync(values.log, `${line}\n`);
  process.stdout.write(`${line}\n`);
  if (!(result as { ok: boolean }).ok) red += 1;
}
process.exitCode = red === 0 ? 0 : 1;
