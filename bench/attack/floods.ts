/** Calls without a key, or with a made-up one, while another account works. */
import { generateKey } from '../../src/core/keys/key-format.ts';
import { askChild } from '../child.ts';
import type { Latencies, OpenLoop } from '../open-loop.ts';
import { type Arena, type Attack, type Finding, timed } from './arena.ts';

const CONNECTIONS = 100;
const SECONDS = 10;
const CALLS_PER_SECOND = 20;
/** Seconds from when a quick call of another account is due to its whole response. */
const OTHERS_P99_MAX = 0.5;

export const healthFlood: Attack = {
  name: 'health-flood',
  does: `asks /readyz over ${CONNECTIONS} connections as fast as it can`,
  run: (arena) => flood(arena, () => arena.call(null, '/readyz')),
};

export const madeUpKeys: Attack = {
  name: 'made-up-keys',
  does: `sends well-formed unknown keys over ${CONNECTIONS} connections`,
  run: (arena) => flood(arena, () => arena.call({ key: generateKey('live') }, '/v1/me')),
};

/** The other account calls from a separate process: the flood must not delay its clock. */
async function flood(arena: Arena, send: () => Promise<Response>): Promise<Finding[]> {
  const { key } = await arena.account(10, { requestsPerMinute: 10_000 });
  let isOver = false;
  const attackers = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) await timed(send);
  });
  const { p99, failed } = await askChild<Latencies>('bench/open-loop-process.js', {
    addresses: [`${arena.stack.url}/v1/me`],
    headers: [{ Authorization: `Bearer ${key}` }],
    perSecond: CALLS_PER_SECOND,
    seconds: SECONDS,
  } satisfies OpenLoop);
  isOver = true;
  await Promise.all(attackers);
  return [
    { what: "others' /v1/me, p99", measured: p99 / 1000, unit: 's', max: OTHERS_P99_MAX },
    { what: "others' /v1/me without a 200", measured: failed, unit: '', max: 0 },
  ];
}
