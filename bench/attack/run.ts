/**
 * `npm run attack [-- --only NAME] [--persons N]`: plays attacks that are too long or too noisy for the tests
 * against the embedded stack on a generated graph, and prints the result of each with its bound. Exits 1 when a
 * bound is exceeded. Run it before a release; `docs/threat-model.md` keeps the last result.
 */
import { openBenchStack } from '../bench-stack.ts';
import { parseOptions } from '../parse-options.ts';
import { type Attack, type Finding, openArena } from './arena.ts';
import { dueSchedules } from './due-schedules.ts';
import { healthFlood, madeUpKeys } from './floods.ts';
import { callsOfMany, freeCalls } from './free-calls.ts';
import { heavyBodies } from './heavy-bodies.ts';
import { quotesAhead } from './quotes-ahead.ts';
import { signInGuesses } from './sign-in-guesses.ts';
import { slowPreviews } from './slow-previews.ts';
import { stuckQuotes } from './stuck-quotes.ts';

const attacks: readonly Attack[] = [
  healthFlood,
  madeUpKeys,
  signInGuesses,
  slowPreviews,
  quotesAhead,
  stuckQuotes,
  dueSchedules,
  freeCalls,
  callsOfMany,
  heavyBodies,
];

const { persons, chosen } = parseOptions(
  `usage: npm run attack -- [--only NAME] [--persons N]\nnames: ${attacks.map(({ name }) => name).join(', ')}`,
  { options: { only: { type: 'string' }, persons: { type: 'string', default: '100000' } } },
  ({ values: { only, persons: number } }) => {
    const played = attacks.filter(({ name }) => only === undefined || name === only);
    const isRight = played.length > 0 && Number(number) > 0;
    return isRight ? { persons: Number(number), chosen: played } : null;
  },
);

const say = (line: string) => process.stderr.write(`${line}\n`);
let isBroken = false;
for (const attack of chosen) {
  say(`${attack.name}: ${attack.does} ...`);
  // Each has its own stack: leftovers of one must not affect the next.
  const graph = { persons, companies: Math.ceil(persons / 5), seed: 1 };
  await using stack = await openBenchStack(graph, say, { trustProxy: 'loopback' });
  for (const finding of await attack.run(openArena(stack))) {
    isBroken ||= finding.measured > finding.max;
    process.stdout.write(`${describeFinding(attack, finding)}\n`);
  }
}
process.exitCode = isBroken ? 1 : 0;

/** A row of the table in the threat model. */
function describeFinding({ name }: Attack, { what, measured, unit, max }: Finding): string {
  const shown = (value: number) => `${Number(value.toFixed(2))} ${unit}`.trim();
  const verdict = measured > max ? 'BROKEN' : 'held';
  return `| ${name} | ${what} | ${shown(measured)} | ${shown(max)} | ${verdict} |`;
}
