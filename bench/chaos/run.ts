/** `npm run chaos`: one round of faults; exits 0 only when every rule held. */
import { parseArgs } from 'node:util';
import { mutations } from './chaos.sql.ts';
import { type Mutant, type RoundOptions, runRound } from './round.ts';
import { runDrill } from './run-drill.ts';

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

await runDrill('chaos', readOptions, runRound);
