/** A thousand schedules of other accounts that are due at the same moment as mine. */
import { setTimeout } from 'node:timers/promises';
import { type Arena, type Attack, type Caller, jsonBody } from './arena.ts';
import { makeSchedulesDue, readSlotDelay } from './attack.sql.ts';

const ACCOUNTS = 10;
const SCHEDULES_EACH = 100;
const LATE_SECONDS_MAX = 2;

export const dueSchedules: Attack = {
  name: 'due-schedules',
  does: `has ${ACCOUNTS * SCHEDULES_EACH} schedules of ${ACCOUNTS} accounts due at one moment`,
  async run(arena) {
    await Promise.all(Array.from({ length: ACCOUNTS }, () => makeAccount(arena)));
    const mine = await arena.account(100);
    const id = await makeSchedule(arena, mine);
    await makeSchedulesDue(arena.stack.sql, 1);
    let late: number | null = null;
    for (let look = 0; look < 600 && late === null; look++) {
      await setTimeout(100);
      late = await readSlotDelay(arena.stack.sql, id);
    }
    const measured = late ?? Number.POSITIVE_INFINITY;
    return [{ what: 'start of mine after its time', measured, unit: 's', max: LATE_SECONDS_MAX }];
  },
};

/** One schedule after the other: more at a time of one account are refused. */
async function makeAccount(arena: Arena): Promise<void> {
  const caller = await arena.account(0);
  for (let made = 0; made < SCHEDULES_EACH; made++) await makeSchedule(arena, caller);
}

async function makeSchedule(arena: Arena, caller: Caller): Promise<string> {
  const body = { name: 'Due', filter: 'gender=2', cron: '0 0 1 1 *', time_zone: 'UTC' };
  const response = await arena.call(caller, '/v1/schedules', jsonBody({ ...body, max_credits: 1 }));
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as { id: string }).id;
}
