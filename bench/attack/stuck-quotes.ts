/** Quotes that wait for hours, and a queue that is lost: somebody else's list must be found all the same. */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/client/client.ts';
import { type Arena, type Attack, type Caller, jsonBody } from './arena.ts';
import { loseQueue } from './attack.sql.ts';

const LISTS = 103;
const ROWS = 300;
const RECOVERY_SECONDS_MAX = 20;
const WAIT_SECONDS_MAX = 120;

export const stuckQuotes: Attack = {
  name: 'stuck-quotes',
  does: `asks for quotes of ${LISTS} lists at a row a minute, and the queue is lost`,
  async run(arena) {
    const slow = await arena.account(0, { rowsPerMinute: 1, requestsPerMinute: 1_000 });
    const rows = Array.from({ length: ROWS }, (_, row) => ({ email: `a${row}@nowhere.example` }));
    const ids: string[] = [];
    for (let list = 0; list < LISTS; list++) {
      const id = await makeList(arena, slow, rows, true);
      if (id !== null) ids.push(id);
    }
    for (const id of ids) {
      while ((await createClient(arena.stack.url, slow.key).getBatch(id)).state !== 'ready') {
        await setTimeout(20);
      }
      await arena.call(slow, `/v1/batches/${id}/quote`, { method: 'POST' });
    }
    const other = await arena.account(10);
    const waiting = makeList(arena, other, [{ email: 'b@nowhere.example' }], false);
    const id = await waiting;
    await loseQueue(arena.stack.sql);
    const started = performance.now();
    const client = createClient(arena.stack.url, other.key);
    let seconds = 0;
    while (id !== null && seconds < WAIT_SECONDS_MAX) {
      seconds = (performance.now() - started) / 1000;
      if ((await client.getBatch(id)).state === 'completed') break;
      await setTimeout(100);
    }
    return [
      {
        what: "another account's list after the loss",
        measured: seconds,
        unit: 's',
        max: RECOVERY_SECONDS_MAX,
      },
    ];
  },
};

/** Makes a list; null when the account may not have one more. */
async function makeList(
  arena: Arena,
  caller: Caller,
  rows: object[],
  hold: boolean,
): Promise<string | null> {
  const body = jsonBody({ operation: 'people.enrich', hold, rows });
  const response = await arena.call(caller, '/v1/batches', body);
  if (response.status === 429) return null;
  return ((await response.json()) as { id: string }).id;
}
