/**
 * Changes that the log of the API witnesses and that cannot be compared with the database: settings of accounts, and what
 * operators did to the graph. After a restore, those since its moment are forgotten.
 */
import type { LoggedRequest } from './logged-request.ts';

/** Changes of one kind by one account. */
export interface LoggedChange {
  account_id: string;
  method: string;
  /** The template of the route. */
  route: string;
  /** The key, schedule, list or other thing that was changed; null when the log does not name it. */
  id: string | null;
  times: number;
  last_at: string;
  /** State of the schedule after the last change; null for what is no schedule. */
  enabled: boolean | null;
}

export interface LoggedChanges {
  add(answered: LoggedRequest): void;
  /** Returns the changes, latest first. */
  list(): LoggedChange[];
}

const CHANGES = [
  /^(?:POST|PATCH|DELETE) \/v1\/(?:do-not-contact|keys|mappings|searches)\b/,
  /^(?:POST|PATCH|DELETE) \/v1\/(?:schedules|webhooks)(?:\/:id(?:\/rotate)?)?$/,
  /^PATCH \/v1\/batches\/:id$/,
  /^POST \/v1\/batches\/:id\/decisions$/,
  /^POST \/admin\/(?:import-runs\/:id\/start|imports\/:id\/undo|(?:companies|people)\/:id\/split|splits\/:id\/undo)$/,
];

/** Collects the changes of a log, whose lines may be in any order. */
export function collectChanges(): LoggedChanges {
  const found = new Map<string, LoggedChange>();
  return {
    add({ time, method, route, account, batch, object = batch, enabled = null }) {
      const call = `${method} ${route}`;
      if (!CHANGES.some((change) => change.test(call))) return;
      const place = `${account} ${call} ${object}`;
      const known = found.get(place);
      const of = { account_id: account, method, route, id: object ?? null };
      const latest =
        known === undefined || known.last_at < time ? { ...of, last_at: time, enabled } : known;
      found.set(place, { ...latest, times: (known?.times ?? 0) + 1 });
    },
    list: () => [...found.values()].sort((one, other) => other.last_at.localeCompare(one.last_at)),
  };
}
