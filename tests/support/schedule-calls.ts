/** Calls that tests of schedules make. */
import type { ScheduleView, viewRun } from '../../src/jobs/schedule/schedule-view.ts';
import type { Caller, Pipeline } from './pipeline.ts';

export type RunView = ReturnType<typeof viewRun>;

export const nightly = { cron: '30 2 * * *', filter: 'id=1001-1999', fields: ['id'] };
/** The minutes between two runs of `nightly`. */
export const NIGHT = 24 * 60;

export function minutesAfter(time: string | null, minutes: number): Date {
  return new Date(new Date(time ?? '').getTime() + minutes * 60_000);
}

/** Returns the calls of the present test; those without a caller of their own are its `caller`'s. */
export function openScheduleCalls(current: () => { pipeline: Pipeline; caller: Caller }) {
  async function send(who: Caller, method: string, path: string, body?: object): Promise<Response> {
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.headers = { 'Content-Type': 'application/json' };
      init.body = JSON.stringify(body);
    }
    return current().pipeline.call(who, `/v1/schedules${path}`, init);
  }

  /** Creates a schedule, of which `body` replaces parts of `nightly`. */
  async function make(body: object = {}, who = current().caller): Promise<ScheduleView> {
    const answer = await send(who, 'POST', '', { ...nightly, ...body });
    if (answer.status !== 201) throw new Error(await answer.text());
    return (await answer.json()) as ScheduleView;
  }

  async function show({ id }: { id: string }): Promise<ScheduleView> {
    return (await (await send(current().caller, 'GET', `/${id}`)).json()) as ScheduleView;
  }

  /** Its runs, oldest first. */
  async function runsOf({ id }: { id: string }): Promise<RunView[]> {
    const response = await send(current().caller, 'GET', `/${id}/runs`);
    return ((await response.json()) as { data: RunView[] }).data.reverse();
  }

  return { send, make, show, runsOf };
}
