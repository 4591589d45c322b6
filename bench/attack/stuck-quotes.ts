/** Quotes that wait for hours, and a lost queue: another account's list must still be found. */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/client/client.ts';
import { type Arena, type Attack, type Caller, jsonBody } from './arena.ts';
import { loseQueue } from './attack.sql.ts';

const LISTS = 103;
const ROWS = 300;
const OTHERS_LISTS = 10;
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
    // An awake worker starts a list within milliseconds, so the queue is lost repeatedly meanwhile.
    const lists = new AbortController();
    const losing = keepLosingQueue(arena, lists.signal);
    const others = await Promise.all(
      Array.from({ length: OTHERS_LISTS }, () =>
        makeList(arena, other, [{ email: 'b@nowhere.example' }], false),
      ),
    );
    lists.abort();
    await losing;
    const started = performance.now();
    const client = createClient(arena.stack.url, other.key);
    for (const id of others) {
      if (id === null) throw new Error('the other account may not have one more list');
      while ((await client.getBatch(id)).state !== 'completed') {
        if (performance.now() - started > WAIT_SECONDS_MAX * 1000) break;
        await setTimeout(100);
      }
    }
    const seconds = (performance.now() - started) / 1000;
    return [
      {
        what: `another account's ${OTHERS_LISTS} lists after the loss`,
        measured: seconds,
        unit: 's',
        max: RECOVERY_SECONDS_MAX,
      },
    ];
  },
};

/** Loses the queue repeatedly until `signal` aborts. */
async function keepLosingQueue({ stack }: Arena, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await loseQueue(stack.sql);
}

/** Creates a list; null when the account has its maximum of open lists. */
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
