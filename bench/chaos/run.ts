/** `npm run chaos`: one round of faults; exits 0 only when every rule held. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mutations } from './chaos.sql.ts';
import { History } from './history.ts';
import { type Mutant, type RoundOptions, runRound } from './round.ts';

const USAGE = `usage: npm run chaos -- [--seed N] [--minutes M] [--backend embedded|redis] [--mutant NAME]
mutants: ${Object.keys(mutations).join(', ')}`;

function readOptions(): RoundOptions {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      minutes: { type: 'string', default: '1' },
      backend: { type: 'string', default: 'embedded' },
      mutant: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const { backend, mutant = null } = values;
  const isKnown = mutant === null || Object.hasOwn(mutations, mutant);
  if (!Number.isSafeInteger(seed) || seed < 0 || !(minutes > 0) || !isKnown) throw new Error(USAGE);
  if (backend !== 'embedded' && backend !== 'redis') throw new Error(USAGE);
  return { seed, minutes, backend, mutant: mutant as Mutant | null };
}

async function main(): Promise<void> {
  const options = readOptions();
  const folder = mkdtempSync(path.join(tmpdir(), `enrich-chaos-${options.seed}-`));
  const history = new History(folder, (line) => process.stdout.write(`${line}\n`));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const result = await runRound(options, history);
  history.note('result', result);
  history.close();
  process.stdout.write(`history and logs: ${folder}\n${JSON.stringify(result)}\n`);
  rmSync(path.join(folder, 'data'), { recursive: true, force: true });
  process.exitCode = result.violations === 0 ? 0 : 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exit(2);
}
