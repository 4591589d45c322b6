/** A schedule and its runs as the API answers them, and the words for them. */
import type { Calls, Schedule } from '../../client/api-types.ts';
import { type BatchState, stateLabel, stateTone } from '../batch/batch.ts';
import type { Tone } from '../components/badge.tsx';

export type { Schedule };

export type ScheduleMode = Schedule['mode'];

export const modes: readonly { value: ScheduleMode; label: string; about: string }[] = [
  {
    value: 'new',
    label: 'New people only',
    about:
      'Skips people this schedule has already delivered, so you never pay for the same person twice.',
  },
  {
    value: 'all',
    label: 'Everyone, each time',
    about: 'Every run exports and charges for everyone who matches.',
  },
];

type Run = Calls['GET /v1/schedules/{id}/runs']['response']['data'][number];

export interface ScheduleRun extends Run {
  /** That of its export, or `skipped` or `failed` when there is none. */
  state: BatchState | 'skipped';
}

export function runLabel({ state }: ScheduleRun): string {
  return state === 'skipped' ? 'Skipped' : stateLabel(state);
}

export function runTone({ state }: ScheduleRun): Tone {
  return state === 'skipped' ? 'warn' : stateTone(state);
}

const reasons: Record<string, string> = {
  previous_run_open: 'The run before had not ended yet, so this one was left out.',
  too_many_open:
    'Too many lists and exports of the account had not ended, so this run was skipped.',
  key_revoked:
    'The key under which it ran has ended, and the schedule was turned off. Turn it on again: it then runs under yours.',
  storage_full:
    'The account stores as much as it may, so this one was left out. Delete lists or exports that are no longer needed.',
  expired: 'Cancelled by the service: it was paused for too long.',
  insufficient_credits: 'Waits for credits; it goes on by itself when there are more.',
  key_budget: 'The key has spent what it may in a day; it goes on after midnight (UTC).',
  user: 'Paused by somebody.',
};

/** Why a run is not what it should be, in words; empty for one that is. */
export function sayRunReason({ reason }: ScheduleRun): string {
  return reason === null ? '' : (reasons[reason] ?? reason);
}
