/** All unmetered calls of a minute at once, by a key without credits, while another account works. */
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

export const freeCalls: Attack = {
  name: 'free-calls',
  does: `reads a list with a header of ${HEADER_CHARACTERS} characters ${CALLS} times at once`,
  async run(arena) {
    const attacker = await arena.account(0);
    const path = `/v1/batches/${await longList(arena, attacker)}`;
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

/** Uploads a held list with a long header, and returns its id. */
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
  return ((await made.json()) as { id: string }).id;
}
