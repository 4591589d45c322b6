/**
 * `npm run attack [-- --only NAME] [--persons N]`: plays attacks that are too long or too noisy for the tests
 * against the embedded stack on a generated graph, and prints the result of each with its bound. Exits 1 when a
 * bound is exceeded. Run it before a release; `docs/threat-model.md` keeps the last result.
 */
import { parseArgs } from 'node:util';
import { assert } from '../../src/core/lib/assert.ts';
import { openBenchStack } from '../bench-stack.ts';
import { type Attack, type Finding, openArena } from './arena.ts';
import { dueSchedules } from './due-schedules.ts';
import { healthFlood, madeUpKeys } from './floods.ts';
import { freeCalls } from './free-calls.ts';
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
  heavyBodies,
];

const { values } = parseArgs({
  options: { only: { type: 'string' }, persons: { type: 'string', default: '100000' } },
});
const persons = Number(values.persons);
const chosen = attacks.filter(({ name }) => values.only === undefined || name === values.only);
assert(chosen.length > 0, `--only is one of ${attacks.map(({ name }) => name).join(', ')}`);

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
