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

/** True for a run that found no person: its export has no file. */
export function isNothingNew({ state, rows }: ScheduleRun): boolean {
  return state === 'completed' && rows === 0;
}

export function runLabel(run: ScheduleRun): string {
  if (isNothingNew(run)) return 'Nothing new';
  return run.state === 'skipped' ? 'Skipped' : stateLabel(run.state);
}

export function runTone(run: ScheduleRun): Tone {
  if (isNothingNew(run)) return 'neutral';
  return run.state === 'skipped' ? 'warn' : stateTone(run.state);
}

const reasons: Record<string, string> = {
  previous_run_open: 'Skipped: the previous run had not ended.',
  too_many_open: 'Skipped: too many lists and exports of the account had not ended.',
  rate_limited: 'Skipped: the account reached its maximum of lists and exports for today.',
  key_revoked: 'Turned off: its key has ended. Turn it on to run it under your key.',
  storage_full:
    'Skipped: the storage of the account is full. Delete lists or exports that are no longer needed.',
  expired: 'Cancelled automatically after being paused for too long.',
  insufficient_credits: 'Out of credits. Resumes automatically when credits are added.',
  key_budget: 'The key reached its daily credit limit. Resumes after midnight UTC.',
  user: 'Paused. Open the export to resume it.',
};

/** Why a run is not what it should be, in words; empty for one that is. */
export function sayRunReason({ reason }: ScheduleRun): string {
  return reason === null ? '' : (reasons[reason] ?? reason);
}
