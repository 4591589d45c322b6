/** `npm run long`: a round for each seed on both stacks at once, with a log that says how each ended. */
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

/** Runs one round and keeps how it ended; false when it is red. */
async function logOne(round: Round): Promise<boolean> {
  const result = await runOne(round, values.minutes);
  const time = new Date().toISOString();
  const line = JSON.stringify({ time, backend: round.backend, minutes: values.minutes, ...result });
  appendFileSync(values.log, `${line}\n`);
  process.stdout.write(`${line}\n`);
  return (result as { ok: boolean }).ok;
}

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '12' },
    minutes: { type: 'string', default: '4' },
    log: {
      type: 'string',
      default: path.join(packageRoot, 'bench', 'results', 'chaos-long.jsonl'),
    },
  },
});
const first = Number(values.from);
let red = 0;
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const held = await Promise.all([
    logOne({ backend: 'embedded', seed }),
    logOne({ backend: 'redis', seed }),
  ]);
  red += held.filter((ok) => !ok).length;
}
process.exitCode = red === 0 ? 0 : 1;
