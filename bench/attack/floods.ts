/** Calls that need no key, or have a made-up one, while somebody else works. */
import { generateKey } from '../../src/core/keys/key-format.ts';
import { type Arena, type Attack, type Caller, type Finding, timed } from './arena.ts';

const CONNECTIONS = 100;
const SECONDS = 5;
/** What somebody else's quick call may take meanwhile: 19 of 20, in seconds. */
const OTHERS_P95_MAX = 0.5;

export const healthFlood: Attack = {
  name: 'health-flood',
  does: `asks /readyz over ${CONNECTIONS} connections as fast as it can`,
  run: (arena) => flood(arena, () => arena.call(null, '/readyz')),
};

export const madeUpKeys: Attack = {
  name: 'made-up-keys',
  does: `sends well-formed keys that nobody has over ${CONNECTIONS} connections`,
  run: (arena) => flood(arena, () => arena.call({ key: generateKey('live') }, '/v1/me')),
};

async function flood(arena: Arena, send: () => Promise<Response>): Promise<Finding[]> {
  const other = await arena.account(10);
  const end = performance.now() + SECONDS * 1000;
  const attackers = Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < end) await timed(send);
  });
  const seconds: number[] = [];
  while (performance.now() < end) seconds.push(await quickCall(arena, other));
  await Promise.all(attackers);
  seconds.sort((a, b) => a - b);
  const p95 = seconds[Math.floor(seconds.length * 0.95)] ?? Number.POSITIVE_INFINITY;
  return [{ what: "others' /v1/me, p95", measured: p95, unit: 's', max: OTHERS_P95_MAX }];
}

async function quickCall(arena: Arena, caller: Caller): Promise<number> {
  return (await timed(() => arena.call(caller, '/v1/me'))).seconds;
}
