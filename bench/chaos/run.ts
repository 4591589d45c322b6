/** `npm run chaos`: one round of faults; exits 0 only when every rule held. */
import { parseOptions } from '../parse-options.ts';
import { mutations } from './chaos.sql.ts';
import { type Mutant, type RoundOptions, runRound } from './round.ts';
import { runDrill } from './run-drill.ts';

const USAGE = `usage: npm run chaos -- [--seed N] [--minutes M] [--backend embedded|redis] [--mutant NAME]
mutants: ${Object.keys(mutations).join(', ')}`;

const options = {
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  minutes: { type: 'string', default: '1' },
  backend: { type: 'string', default: 'embedded' },
  mutant: { type: 'string' },
} as const;

function readOptions(): RoundOptions {
  return parseOptions(USAGE, { options }, ({ values }) => {
    const seed = Number(values.seed);
    const minutes = Number(values.minutes);
    const { backend, mutant = null } = values;
    const isKnown = mutant === null || Object.hasOwn(mutations, mutant);
    if (!Number.isSafeInteger(seed) || seed < 0 || !(minutes > 0) || !isKnown) return null;
    if (backend !== 'embedded' && backend !== 'redis') return null;
    return { seed, minutes, backend, mutant: mutant as Mutant | null };
  });
}

await runDrill('chaos', readOptions, runRound);
