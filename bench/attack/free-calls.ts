/** Unmetered calls by the hundred at once, by keys without credits, while another account works. */
import { setTimeout } from 'node:timers/promises';
import { assert } from '../../src/core/lib/assert.ts';
import { askChild } from '../child.ts';
import type { Latencies, OpenLoop } from '../open-loop.ts';
import { type Arena, type Attack, type Caller, type Finding, timed } from './arena.ts';

/** Those that are left of the minute's 600 after the list was made. */
const CALLS = 590;
const SECONDS = 5;
const CALLS_PER_SECOND = 40;
const OTHERS_SECONDS_MAX = 0.5;
/** Nearly as long as a header may be. */
const HEADER_CHARACTERS = 57_000;

const ACCOUNTS = 12;
const CALLS_EACH = 100;
const CONNECTION_SECONDS_MAX = 1;
const OWN_SECONDS_MAX = 30;

export const freeCalls: Attack = {
  name: 'free-calls',
  does: `reads a list with a header of ${HEADER_CHARACTERS} characters ${CALLS} times at once`,
  async run(arena) {
    const attacker = await arena.account(0);
    const path = await longList(arena, attacker);
    const { key } = await arena.account(10, { requestsPerMinute: 10_000 });
    const others = askChild<Latencies>('bench/open-loop-process.js', {
      addresses: [`${arena.stack.url}/v1/me`, `${arena.stack.url}/v1/batches?limit=1`],
      headers: [{ Authorization: `Bearer ${key}` }],
      perSecond: CALLS_PER_SECOND,
      seconds: SECONDS,
    } satisfies OpenLoop);
    await setTimeout(1_000);
    const calls = Array.from({ length: CALLS }, () => timed(() => arena.call(attacker, path)));
    const refused = (await Promise.all(calls)).filter(({ status }) => status !== 200);
    const { max, failed } = await others;
    return [
      { what: "others' calls, slowest", measured: max / 1000, unit: 's', max: OTHERS_SECONDS_MAX },
      { what: "others' calls without a 200", measured: failed, unit: '', max: 0 },
      { what: 'own calls without a 200', measured: refused.length, unit: '', max: 0 },
    ] satisfies Finding[];
  },
};

export const callsOfMany: Attack = {
  name: 'calls-of-many',
  does: `reads ${CALLS_EACH} times at once, for each of ${ACCOUNTS} accounts, a list with a header of ${HEADER_CHARACTERS} characters`,
  async run(arena) {
    const attackers = await Promise.all(Array.from({ length: ACCOUNTS }, () => arena.account(0)));
    const paths = await Promise.all(attackers.map((one) => longList(arena, one)));
    const others = askChild<Latencies>('bench/open-loop-process.js', {
      addresses: [`${arena.stack.url}/healthz`],
      headers: [{}],
      perSecond: CALLS_PER_SECOND,
      seconds: SECONDS,
      connectsAnew: true,
    } satisfies OpenLoop);
    await setTimeout(1_000);
    const started = performance.now();
    const calls = attackers.flatMap((attacker, index) =>
      Array.from({ length: CALLS_EACH }, () =>
        timed(() => arena.call(attacker, paths[index] ?? '')),
      ),
    );
    const refused = (await Promise.all(calls)).filter(({ status }) => status !== 200);
    const seconds = (performance.now() - started) / 1000;
    const { max, failed } = await others;
    return [
      {
        what: 'a new connection, slowest',
        measured: max / 1000,
        unit: 's',
        max: CONNECTION_SECONDS_MAX,
      },
      { what: 'new connections without a 200', measured: failed, unit: '', max: 0 },
      { what: 'own calls without a 200', measured: refused.length, unit: '', max: 0 },
      { what: 'all own calls', measured: seconds, unit: 's', max: OWN_SECONDS_MAX },
    ] satisfies Finding[];
  },
};

/** Uploads a held list with a long header, and returns its path. */
async function longList(arena: Arena, caller: Caller): Promise<string> {
  const headers = { 'Content-Type': 'text/csv' };
  const body = `email,${'h'.repeat(HEADER_CHARACTERS)}\na@b.example,\n`;
  const options = new URLSearchParams({ operation: 'people.enrich', hold: 'true' });
  const made = await arena.call(caller, `/v1/batches?${options}`, {
    method: 'POST',
    headers,
    body,
  });
  assert(made.ok, `the list is accepted: ${made.status}`);
  const { id } = (await made.json()) as { id: string };
  return `/v1/batches/${id}`;
}
