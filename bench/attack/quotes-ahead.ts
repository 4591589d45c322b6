/** Free quotes of long lists ahead of another account's quote of one row. */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/client/client.ts';
import { assert } from '../../src/core/lib/assert.ts';
import { leadList } from '../bench-stack.ts';
import { upload } from '../line.ts';
import { type Arena, type Attack, type Caller, jsonBody } from './arena.ts';

const LISTS = 8;
const ROWS = 100_000;
const SECONDS_MAX = 2;

export const quotesAhead: Attack = {
  name: 'quotes-ahead',
  does: `asks for ${LISTS} quotes of ${ROWS} rows before another account's of one row`,
  async run(arena) {
    const attacker = await arena.account(0);
    const leads = await leadList(arena.stack, ROWS, () => {});
    const ids = await Promise.all(
      Array.from({ length: LISTS }, () =>
        upload(arena.stack.url, attacker.key, { fields: null, leads, hold: true }),
      ),
    );
    for (const id of ids) await untilReady(arena, attacker, id);
    const other = await arena.account(10);
    const rows = [{ email: 'a@nowhere.example' }];
    const body = jsonBody({ operation: 'people.enrich', hold: true, rows });
    const response = await arena.call(other, '/v1/batches', body);
    const { id } = (await response.json()) as { id: string };
    await untilReady(arena, other, id);
    for (const list of ids) await quote(arena, attacker, list);
    const started = performance.now();
    await quote(arena, other, id);
    const client = createClient(arena.stack.url, other.key);
    while ((await client.getBatch(id)).quote?.state === 'running') await setTimeout(20);
    const measured = (performance.now() - started) / 1000;
    return [{ what: "another account's quote", measured, unit: 's', max: SECONDS_MAX }];
  },
};

async function quote(arena: Arena, caller: Caller, list: string): Promise<void> {
  const response = await arena.call(caller, `/v1/batches/${list}/quote`, { method: 'POST' });
  assert(response.status === 202, `a quote responds 202, not ${response.status}`);
}

async function untilReady({ stack }: Arena, { key }: Caller, id: string): Promise<void> {
  const client = createClient(stack.url, key);
  while ((await client.getBatch(id)).state !== 'ready') await setTimeout(20);
}
