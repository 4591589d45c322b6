/**
 * Responds with a page of a search: reads the page, charges its people, sends it. With an Idempotency-Key the charge
 * and the response are stored in one transaction, and a replay sends the same people without a charge.
 */
import type { Request } from 'express';
import { chargePage } from '../core/credits/charge-page.sql.ts';
import { paysOnce } from '../core/credits/owned.ts';
import { type Purse, paymentError } from '../core/credits/payment-error.ts';
import { inTransaction, type Sql } from '../core/db/client.ts';
import { countWork } from '../core/enrich/count-work.ts';
import { outputColumns } from '../core/enrich/match-data.ts';
import { checkMobileField, hidesMobile, withoutMobile } from '../core/enrich/mobile-in-records.ts';
import { projectPerson } from '../core/enrich/project-match.ts';
import { personFields } from '../core/graph/fields.ts';
import { graphOf } from '../core/graph/graph-of.ts';
import { recordToJson } from '../core/graph/record.ts';
import type { AppError } from '../core/lib/errors.ts';
import { personSearch } from '../core/operations.ts';
import {
  type DisclosedTotal,
  discloseTotal,
  identifyingParameter,
} from '../core/search/free-responses.ts';
import { cursorAfter, readPage } from '../core/search/page.ts';
import type { Filter } from '../core/search/parse.ts';
import { type PageRequest, withKey } from '../core/search/parse-page.ts';
import { badParameter } from '../core/search/parse-query.ts';
import { prepareFilter } from '../core/search/prepare.ts';
import { type PersonRow, selectRecords } from '../core/search/search.sql.ts';
import { findUnknownValues, type UnknownValues } from '../core/search/unknown-values.ts';
import { credentialsEnded } from '../core/sessions/still-valid.ts';
import { isAnySuppressed } from '../core/suppression/suppress.ts';
import { resultChanging } from '../jobs/result/read-part.ts';
import { setCreditHeaders } from './http/authorize.ts';
import type { HandlerInput, RouteInput } from './http/define-route.ts';
import type { KeptResponse } from './http/idempotent-request.ts';
import { requestIdOf } from './http/problem.ts';
import { queryString } from './http/query-string.ts';
import { assertValidIfLate } from './http/while-valid.ts';
import { availableBefore } from './respond-to-call.ts';
import { runSearch } from './run-search.ts';

/** A call and its parsed page. */
interface SearchCall extends RouteInput {
  filter: Filter;
  page: PageRequest;
}

/** The stored part of a response: the ids of its people and its headers. */
interface KeptPage {
  people: number[];
  /** The cursor of the next page, without the key of the last person's place. */
  next: string | null;
  /** That key, such as a surname; empty when an erasure has cleared it, absent for none. */
  answer?: { key?: string };
  total: number | null;
  /** Absent without a total. */
  totalIs?: DisclosedTotal['total_is'];
  isPartial: boolean;
  /** Values of the filter that no lookup knows; on the first page only. */
  unknown?: UnknownValues;
  /** Fields of each person; null for all. */
  fields?: string[] | null;
}

/** Sends the page. Throws `AppError` and charges nothing if the query is invalid, too slow or cannot be paid. */
export async function respondToSearch(
  call: SearchCall,
  keep: HandlerInput<unknown, unknown, undefined, never>['keep'],
): Promise<void> {
  const { context, key, response, filter, page } = call;
  const live = key.mode === 'live';
  if (page.fields !== null) outputColumns(personSearch.name, page.fields);
  checkMobileField(context.config, personSearch.name, page.fields);
  const isRevealing = revealsPeople(filter, page);
  const delivery = { accountId: key.accountId, live, operation: personSearch.name };
  if (isRevealing && page.skip > 0 && (await paysOnce(context.sql, delivery))) {
    // An owned person is free, so their place would reveal for free who else is stored, and whose surname sorts before theirs.
    const message =
      'cannot be combined with `sort=surname`, or a filter that names people, while the account has `owned_days`';
    throw badParameter('skip', 1, `${message}. Page by \`cursor\``);
  }
  if (live) {
    // A refusal after the look-up would reveal for free whether the filter matches, and how many people.
    const needed = (isRevealing && !page.partial ? page.limit : 1) * personSearch.price;
    const purse = { available: availableBefore(call), leftToday: key.creditsLeftToday };
    const refused = refusalOf(page, needed, purse);
    if (refused !== null) throw refused;
  }
  const found = await runSearch(call, async (graph, owner) => {
    const prepared = await prepareFilter(graph, filter, owner);
    const isFirst = page.cursor === null && page.skip === 0;
    const unknown = isFirst ? await findUnknownValues(graph, filter) : [];
    return { ...(await readPage({ graph, hints: context.sql }, prepared, page)), unknown };
  });
  // The client has disconnected, so nothing is charged.
  if (response.destroyed) return;
  const paying = inTransaction(context.sql, async (tx) => {
    const paid = live ? await pay(tx, call, found.people) : null;
    const people = found.people.slice(0, paid?.granted);
    const last = people.at(-1);
    const isPartial = people.length < found.people.length;
    const units = paid?.units ?? people.length;
    // After owned people, the absence of a link would reveal for free that no one else matches, or who sorts before.
    const hasNext = found.hasMore || isPartial || units === 0;
    const after = last !== undefined && hasNext ? last : null;
    const next = after && cursorAfter({ ...after, key: null }, filter, page.order);
    const disclosed = discloseCount(found.total, units, filter);
    const { unknown } = found;
    const kept = {
      people: people.map(({ id }) => id),
      next,
      ...(typeof after?.key === 'string' ? { answer: { key: after.key } } : {}),
      ...disclosed,
      isPartial,
      unknown,
      fields: page.fields,
    };
    await keep(tx, { status: 200, body: kept });
    // Only now: an erasure that this does not see waits for the stored response, and clears it.
    const graph = graphOf({ ...context, sql: tx }, live);
    if (await isAnySuppressed(graph, kept.people)) throw resultChanging();
    return {
      people,
      kept,
      credits: (paid?.units ?? 0) * personSearch.price,
      remaining: paid?.remaining,
    };
  });
  const paid = paying.then((page) => {
    countPage(page.people.length, live, page.credits);
    // Not before the commit: a page that fails until then costs nothing.
    setCreditHeaders(response, page.credits, page.remaining ?? availableBefore(call));
    return page;
  });
  // It only spares work of the next page: what was charged is sent in any case.
  const remembered = found.remember().catch((error: unknown) => {
    context.log.warn({ err: error }, 'place of a page not remembered');
  });
  const [{ people, kept }] = await Promise.all([paid, remembered]);
  // A charge has checked key and session.
  if (!live || people.length === 0) await assertValidIfLate(context, call);
  send(call, people, kept);
}

/**
 * Returns true for a page of which even the number of people reveals something about one of them: its filter names people, or it
 * begins after a surname that the caller chooses.
 */
function revealsPeople(filter: Filter, { order }: PageRequest): boolean {
  return order.by === 'surname' || identifyingParameter(filter) !== null;
}

/**
 * Returns the total that the page may disclose: the exact one when at least one person was charged, otherwise that of a
 * preview, which has none for a filter that identifies people.
 */
function discloseCount(
  total: number | null,
  paid: number,
  filter: Filter,
): Pick<KeptPage, 'total' | 'totalIs'> {
  if (total === null || paid > 0) return { total, totalIs: 'exact' };
  if (identifyingParameter(filter) !== null) return { total: null };
  const disclosed = discloseTotal(total);
  return { total: disclosed.total, totalIs: disclosed.total_is };
}

/** Charges the page. Returns how many of its people may be sent, and were charged, and the credits that are left. */
async function pay(
  tx: Sql,
  call: SearchCall,
  people: readonly PersonRow[],
): Promise<{ granted: number; units: number; remaining: number }> {
  const { key, credentials, response, page } = call;
  if (people.length === 0) return { granted: 0, units: 0, remaining: availableBefore(call) };
  const { granted, units, remaining, leftToday } = await chargePage(tx, {
    accountId: key.accountId,
    ...credentials,
    reference: `search:${requestIdOf(response)}`,
    operation: personSearch.name,
    price: personSearch.price,
    people: people.map(({ id }) => id),
    partial: page.partial,
  });
  if (granted === null) throw await credentialsEnded(tx, credentials);
  if (granted === 0) {
    // The number of matches is not disclosed for free: the message has the maximum price of such a page.
    const needed = page.partial ? personSearch.price : page.limit * personSearch.price;
    const refused = refusalOf(page, needed, { available: remaining, leftToday });
    if (refused !== null) throw refused;
  }
  return { granted, units, remaining };
}

/** Returns the error of a page at this price, which says how to get the people that can be paid for; null when it can be paid. */
function refusalOf({ partial }: PageRequest, needed: number, purse: Purse): AppError | null {
  const paysForOne = Math.min(purse.available, purse.leftToday ?? needed) >= personSearch.price;
  const cheaper =
    'A lower `limit` costs less, and `partial=true` returns as many people as can be paid for.';
  return paymentError(needed, purse, paysForOne && !partial ? cheaper : undefined);
}

function countPage(people: number, live: boolean, credits: number): void {
  const { name: operation } = personSearch;
  countWork({ channel: 'search', operation, live, rows: { matched: people }, credits });
}

/**
 * Sends the current records of the same people, without those who have opted out since, in the account's share of searches. Nor
 * does the link to the next page have the name of the last one then.
 */
export async function replaySearch(call: RouteInput, { body }: KeptResponse): Promise<void> {
  const kept = body as KeptPage;
  const primary = graphOf(call.context, call.key.mode === 'live');
  const { isHidden, people } = await runSearch(call, async (graph) => {
    const isHidden = await isAnySuppressed(graph, kept.people.slice(-1));
    const people = await selectRecords(graph, kept.people);
    // A replica may not have the latest of them yet.
    const isWhole = people.length === kept.people.length;
    return { isHidden, people: isWhole ? people : await selectRecords(primary, kept.people) };
  });
  await assertValidIfLate(call.context, call);
  call.response.setHeader('Idempotent-Replayed', 'true');
  send(call, people, isHidden ? { ...kept, answer: {} } : kept);
}

function send(
  { context, request, response }: RouteInput,
  people: PersonRow[],
  kept: KeptPage,
): void {
  if (kept.next !== null) {
    const { key } = kept.answer ?? {};
    const cursor = key === undefined ? kept.next : withKey(kept.next, key);
    response.setHeader('Link', nextLink(request, cursor));
  }
  if (kept.total !== null) {
    response.setHeader('X-Total-Count', String(kept.total));
    response.setHeader('X-Total-Is', kept.totalIs ?? 'exact');
  }
  if (kept.isPartial) response.setHeader('X-Partial', 'true');
  const unknown = writeUnknownValues(kept.unknown ?? []);
  if (unknown !== '') response.setHeader('X-Unknown-Values', unknown);
  response.type('application/json');
  const fields = kept.fields ?? null;
  const isHidden = hidesMobile(context.config, personSearch.name);
  const persons = people.map(({ record }) => {
    const shown = isHidden ? withoutMobile(record) : record;
    return projectPerson(recordToJson(personFields, shown), fields);
  });
  response.send(`[${persons.join(',')}]`);
}

/** Returns the link to the next page in the form of RFC 8288. */
function nextLink(request: Request, cursor: string): string {
  const rest = queryString(request)
    .split('&')
    .filter((part) => part !== '' && !/^(cursor|skip)=/.test(part));
  const query = [...rest, `cursor=${cursor}`].join('&');
  // Characters that a header, or an address in angle brackets, cannot contain.
  const address = query.replace(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent);
  return `<${request.path}?${address}>; rel="next"`;
}

/** A header must stay small; what is left out is in the preview. */
const UNKNOWN_HEADER_CHARACTERS_MAX = 2000;

/** The values as a query string, `locationList=London%3AZZ&industryIds=99`: as many as a header holds. */
function writeUnknownValues(values: UnknownValues): string {
  let text = '';
  for (const { parameter, value } of values) {
    const next = `${text === '' ? '' : '&'}${parameter}=${encodeURIComponent(value)}`;
    if (text.length + next.length > UNKNOWN_HEADER_CHARACTERS_MAX) break;
    text += next;
  }
  return text;
}
