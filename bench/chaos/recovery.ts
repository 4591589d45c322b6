/**
 * One worker dies and one freezes, both holding chunks, without other faults: others take the chunks in time,
 * and the frozen one, when it resumes, tries to continue and is refused.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import type { Account } from './accounts.ts';
import type { ApiCaller } from './api-caller.ts';
import { countClaimedAgain, listLeasedChunks } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';
import { batchOf, type KnownList } from './lists.ts';
import { countRefusedParts } from './logs.ts';

/** A lease of 12 s and a sweep every 3 s. */
const RECOVERY_SECONDS_MAX = 20;
const GIVE_UP_SECONDS = 60;
const LOOK_AGAIN_MS = 50;
/** Delay of each database response, so that all workers hold chunks. */
const SLOW_MS = 150;
const HELD_MIN = 5;
/**
 * It is unknown which worker holds which chunk, and the one that freezes may hold none: then it freezes again.
 */
const FREEZES_MAX = 4;
const HELD_MS_MAX = 20_000;
/** Time for a resumed worker to finish the chunks that it holds. */
const FINISH_MS = 3_000;
/** On a loaded machine a resumed worker may wait to be scheduled. */
const COME_BACK_MS_MAX = 10_000;

export interface Recovery {
  runs: ListRun[];
  /** Time until the last chunk of the dead and the frozen worker was claimed again; maximum of all attempts. */
  seconds: number;
}

interface Disturbed {
  seconds: number;
  partsRefused: number;
}

export async function measureRecovery(
  stack: ChaosStack,
  api: ApiCaller,
  history: History,
  account: Account,
  lists: readonly KnownList[],
): Promise<Recovery> {
  const list = must(lists.toSorted((a, b) => b.rows - a.rows)[0], 'a list');
  const line = must(stack.proxies['worker-postgres'], 'the line of the workers');
  const runs: ListRun[] = [];
  let seconds = 0;
  for (let freeze = 0; freeze < FREEZES_MAX; freeze++) {
    line.behave({ kind: 'latency', ms: SLOW_MS });
    const accepted = await api.until({
      key: account.key,
      route: `post /v1/${list.kind}`,
      idempotencyKey: randomUUID(),
      body: () => list.request({}),
    });
    const { id } = batchOf(accepted);
    runs.push({ list, account, id, chargedAtCancel: null });
    const disturbed = await stack.ask((sql) => disturb(sql, stack, history));
    seconds = Math.max(seconds, disturbed.seconds);
    if (disturbed.partsRefused > 0) return { runs, seconds };
  }
  // Otherwise nothing is proved about workers that resume.
  history.violate('a worker that comes back tries to go on');
  return { runs, seconds };
}

async function disturb(sql: Database, stack: ChaosStack, history: History): Promise<Disturbed> {
  const [frozen, dead, living] = stack.workers.map((worker) => must(worker, 'a worker'));
  const deadline = Date.now() + HELD_MS_MAX;
  while ((await listLeasedChunks(sql)).length < HELD_MIN && Date.now() < deadline) {
    await delay(LOOK_AGAIN_MS);
  }
  for (const worker of stack.workers) worker.signal('SIGSTOP');
  stack.proxies['worker-postgres']?.behave({ kind: 'none' });
  dead?.signal('SIGKILL');
  living?.signal('SIGCONT');
  const killed = performance.now();
  const passed = () => (performance.now() - killed) / 1000;
  await delay(FINISH_MS);
  const held = await listLeasedChunks(sql);
  while ((await countClaimedAgain(sql, held)) < held.length && passed() < GIVE_UP_SECONDS) {
    await delay(LOOK_AGAIN_MS);
  }
  const seconds = passed();
  if (seconds > RECOVERY_SECONDS_MAX) {
    history.violate('the chunk of a killed worker runs again within 20 s', { seconds });
  }
  const before = await countRefusedParts(stack.workers);
  frozen?.signal('SIGCONT');
  const comeBack = Date.now() + COME_BACK_MS_MAX;
  let partsRefused = 0;
  while (partsRefused === 0 && Date.now() < comeBack) {
    await delay(LOOK_AGAIN_MS);
    partsRefused = (await countRefusedParts(stack.workers)) - before;
  }
  history.tell('recovered', { chunks: held.length, seconds, partsRefused });
  return { seconds, partsRefused };
}
