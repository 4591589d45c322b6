/**
 * Compares the log of the API with the database. The log is the only witness of what was answered when the database went
 * back in time: to a backup, or to a standby that had not received the last commits.
 */
import { sumCharges } from '../../core/credits/audit.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { listUnknownBatches } from '../batch/stored-bytes.sql.ts';
import {
  collectActions,
  type ForgottenAction,
  kindOf,
  type LoggedKind,
} from './forgotten-actions.ts';
import { collectChanges, type LoggedChange } from './logged-changes.ts';
import type { LoggedRequest } from './logged-request.ts';

/** Promises of answers that the database does not have. */
export interface LogAudit {
  /** All requests in the log, from the moment on. Without any nothing was compared. */
  logged: number;
  /** Successful requests in the log about a list or an export, or with a charge. */
  requests: number;
  /** Lists and exports. */
  lists: { batch_id: string; kind: LoggedKind; account_id: string; answered_at: string }[];
  charges: {
    request_id: string;
    account_id: string;
    answered_at: string;
    /** Credits that the answer named, less those in the ledger. */
    credits: number;
  }[];
  /** The last action on each list and export, where the database shows none of it. */
  actions: ForgottenAction[];
  /** Changes that cannot be compared: those since the moment of a restore are forgotten. */
  changes: LoggedChange[];
}

type AnyRequest = Partial<LoggedRequest> & { msg?: unknown; status?: unknown };

const PAGE = 1_000;
/** A reconciliation charges each of its queries or ids under a number of its own. */
const NUMBERED_MAX = 100;
const RECONCILIATION = /\/reconcile/;

/**
 * Reads the lines of a log, of one or several API processes in any order; other lines, and requests that were answered before
 * `since`, are skipped. A request is logged after its commit: one that a snapshot of `since` lacks is later.
 */
export async function auditLog(
  sql: Sql,
  lines: AsyncIterable<string>,
  since: Date | null = null,
): Promise<LogAudit> {
  const from = since?.toISOString() ?? '';
  const found: LogAudit = {
    logged: 0,
    requests: 0,
    lists: [],
    charges: [],
    actions: [],
    changes: [],
  };
  const named = new Set<string>();
  const actions = collectActions();
  const changes = collectChanges();
  let page: LoggedRequest[] = [];
  const check = async () => {
    const first = new Map<string, LoggedRequest>();
    for (const line of page) {
      const { batch } = line;
      if (batch !== undefined && !named.has(batch) && !first.has(batch)) first.set(batch, line);
    }
    for (const id of await listUnknownBatches(sql, [...first.keys()])) {
      const { account, time, route } = first.get(id) as LoggedRequest;
      found.lists.push({
        batch_id: id,
        kind: kindOf(route),
        account_id: account,
        answered_at: time,
      });
      named.add(id);
    }
    found.charges.push(...(await missingCharges(sql, page)));
    page = [];
  };
  for await (const text of lines) {
    const request = readRequest(text);
    if (request === null || (request.time ?? '') < from) continue;
    found.logged++;
    const line = readAnswer(request);
    if (line === null) continue;
    changes.add(line);
    if (!isPromise(line)) continue;
    found.requests++;
    const { batch } = line;
    if (batch !== undefined) actions.add({ ...line, batch });
    page.push(line);
    if (page.length === PAGE) await check();
  }
  await check();
  found.actions = await actions.findForgotten(sql);
  found.changes = changes.list();
  return found;
}

/** Credits of a list are in the ledger under its parts: its row tells whether it is known. */
async function missingCharges(
  sql: Sql,
  page: readonly LoggedRequest[],
): Promise<LogAudit['charges']> {
  const charged = page.filter(({ batch, credits = 0 }) => batch === undefined && credits > 0);
  const wanted = charged.map((line) => ({
    accountId: line.account,
    references: referencesOf(line),
  }));
  const sums = await sumCharges(sql, wanted);
  return charged.flatMap((line, index) => {
    const missing = (line.credits ?? 0) - (sums[index] ?? 0);
    if (missing <= 0) return [];
    const { requestId, account, time } = line;
    return [{ request_id: requestId, account_id: account, answered_at: time, credits: missing }];
  });
}

function referencesOf({ requestId, route }: LoggedRequest): string[] {
  if (!RECONCILIATION.test(route)) return [`call:${requestId}`, `search:${requestId}`];
  return Array.from({ length: NUMBERED_MAX }, (_, number) => `call:${requestId}:${number}`);
}

/** Returns the line of a request; null for any other text. */
function readRequest(text: string): AnyRequest | null {
  if (!text.startsWith('{')) return null;
  try {
    const line = JSON.parse(text) as AnyRequest;
    return line.msg === 'request' ? line : null;
  } catch {
    // The last line of a process that was killed.
    return null;
  }
}

/** Returns the line of a successful request of an account; null for any other. */
function readAnswer(line: AnyRequest): LoggedRequest | null {
  const isAnswered = typeof line.status === 'number' && line.status >= 200 && line.status < 300;
  return isAnswered && line.account !== undefined ? (line as LoggedRequest) : null;
}

/** Returns true for an answer about a list or an export, or with a charge. */
function isPromise({ batch, credits = 0 }: LoggedRequest): boolean {
  return batch !== undefined || credits > 0;
}
