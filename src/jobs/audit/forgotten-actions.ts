/**
 * Actions on lists and exports that the log of the API witnesses and the database forgot: without them a cancelled list
 * runs and charges again, and a started one waits.
 */
import type { Sql } from '../../core/db/client.ts';
import {
  type BatchReason,
  type BatchState,
  endingStates,
  isFinal,
  unsplitStates,
} from '../batch/states.ts';
import { type BatchStatus, readBatchStatuses } from './audit.sql.ts';
import type { LoggedRequest } from './logged-request.ts';

/** An action that was answered, on a list or an export that the database has and on which it has no effect. */
export interface ForgottenAction {
  action: Action;
  kind: LoggedKind;
  batch_id: string;
  account_id: string;
  answered_at: string;
  /** The state in the database instead. */
  state: BatchState;
  reason: BatchReason | null;
}

export type LoggedKind = 'list' | 'export';

type Action = 'start' | 'pause' | 'resume' | 'cancel' | 'delete';

interface LoggedAction {
  action: Action;
  kind: LoggedKind;
  account: string;
  time: string;
}

export interface LoggedActions {
  add(answered: LoggedRequest & { batch: string }): void;
  /** Returns the actions that the database forgot, oldest first. Call it at the end of the log. */
  findForgotten(sql: Sql): Promise<ForgottenAction[]>;
}

const BATCHES_A_STATEMENT = 1_000;
const CONTROL_ROUTE = /^\/v1\/(?:batches|exports)\/:id\/(start|pause|resume|cancel)$/;
const EXPORT_ROUTE = /^\/v1\/(?:exports|schedules)\b/;
const BATCH_ROUTE = /^\/v1\/(?:batches|exports)\/:id$/;

/** Nothing follows these, but the answers that are repeated for an `Idempotency-Key`. */
const ranks: Record<Action, number> = { start: 0, pause: 0, resume: 0, cancel: 1, delete: 2 };

/** True when the status of a batch shows that the action, the last one on it, never happened. */
const isForgotten: Record<Action, (status: BatchStatus) => boolean> = {
  start: isBeforeStart,
  pause: ({ state, reason }) => !isPausedByUser({ state, reason }) && !isEnding(state),
  resume: (status) => isBeforeStart(status) || isPausedByUser(status),
  cancel: ({ state }) => state !== 'cancelling' && state !== 'cancelled',
  delete: ({ hasFiles }) => hasFiles,
};

/** Returns what the batch of a logged request is: a schedule runs as an export. */
export function kindOf(route: string): LoggedKind {
  return EXPORT_ROUTE.test(route) ? 'export' : 'list';
}

/** Collects the actions of a log, whose lines may be in any order. */
export function collectActions(): LoggedActions {
  const last = new Map<string, LoggedAction>();
  return {
    add({ batch, account, time, ...request }) {
      const action = actionOf(request);
      const known = last.get(batch);
      if (action === null || (known !== undefined && !isLater({ action, time }, known))) return;
      last.set(batch, { action, kind: kindOf(request.route), account, time });
    },
    async findForgotten(sql) {
      const found: ForgottenAction[] = [];
      const ids = [...last.keys()];
      for (let from = 0; from < ids.length; from += BATCHES_A_STATEMENT) {
        const page = ids.slice(from, from + BATCHES_A_STATEMENT);
        for (const status of await readBatchStatuses(sql, page)) {
          const { action, kind, account, time } = last.get(status.id) as LoggedAction;
          if (!isForgotten[action](status)) continue;
          const { id: batch_id, state, reason } = status;
          found.push({
            action,
            kind,
            batch_id,
            account_id: account,
            answered_at: time,
            state,
            reason,
          });
        }
      }
      return found.sort((one, other) => one.answered_at.localeCompare(other.answered_at));
    },
  };
}

function actionOf({ method, route }: Pick<LoggedRequest, 'method' | 'route'>): Action | null {
  if (method === 'DELETE' && BATCH_ROUTE.test(route)) return 'delete';
  const control = method === 'POST' ? CONTROL_ROUTE.exec(route) : null;
  return control === null ? null : (control[1] as Action);
}

function isLater(one: Pick<LoggedAction, 'action' | 'time'>, other: LoggedAction): boolean {
  const ahead = ranks[one.action] - ranks[other.action];
  return ahead === 0 ? one.time >= other.time : ahead > 0;
}

function isBeforeStart({ state }: Pick<BatchStatus, 'state'>): boolean {
  return state === 'ready' || unsplitStates.some((unsplit) => unsplit === state);
}

function isPausedByUser({ state, reason }: Pick<BatchStatus, 'state' | 'reason'>): boolean {
  return state === 'paused' && reason === 'user';
}

/** No pause stops the end of a batch. */
function isEnding(state: BatchState): boolean {
  return isFinal(state) || endingStates.some((ending) => ending === state);
}
