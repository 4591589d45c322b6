/**
 * Checks that every list ends with the same result as without faults: byte for byte or, when cancelled, each chunk up
 * to the first unprocessed row. An export at its `max_credits` has the people that they pay for.
 */
import { parse } from 'csv-parse/sync';
import { must } from '../../src/core/lib/assert.ts';
import type { Answer, ApiCaller } from './api-caller.ts';
import { listPartRows, type PartRow } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';
import { type BatchAnswer, batchOf } from './lists.ts';

/** Checks one ended list. Returns the credits that it must have been charged. */
export async function checkList(
  stack: ChaosStack,
  api: ApiCaller,
  history: History,
  run: ListRun,
): Promise<number> {
  const { id, account } = run;
  const call = { key: account.key, id };
  const base = `get /v1/${run.list.kind}/{id}`;
  const answers = await Promise.all([
    api.until({ ...call, route: base }),
    api.until({ ...call, route: `${base}/results` }),
  ]);
  const [view, results] = answers.map((answer) => must(answer, 'an answer')) as [Answer, Answer];
  const batch = batchOf(view);
  const wrong = (rule: string, about: object = {}) =>
    history.violate(rule, { id, list: run.list.name, state: batch.state, ...about });

  if (batch.state === 'failed') wrong('a good list does not fail', { batch });
  if (batch.credits.reserved !== 0) wrong('an ended list reserves nothing', batch.credits);
  const { total, processed, ...outcomes } = batch.rows;
  const sum = Object.values(outcomes).reduce<number>((all, count) => all + (count ?? 0), 0);
  const { chargedAtCancel } = run;
  // The rows of a list cancelled before its split were not counted; an export shows no counts before it
  // delivers.
  const isUncounted =
    sum === 0 && chargedAtCancel === 0 && (total === null || run.list.kind === 'exports');
  if (!isUncounted && (total !== run.list.rows || sum !== total || processed !== total)) {
    wrong('every row has one outcome', { rows: batch.rows });
  }
  if (chargedAtCancel !== null && batch.credits.charged !== chargedAtCancel) {
    wrong('nothing is charged after the answer to cancel', { chargedAtCancel, ...batch.credits });
  }
  const { max } = batch.credits;
  // A list pauses at its limit, which is raised until it completes.
  const isWhole = chargedAtCancel === null && (run.list.kind === 'batches' || max === null);
  const expected = isWhole
    ? checkWhole(run, results.bytes, wrong)
    : await checkPrefix(stack, run, batch, results.bytes, wrong);
  if (batch.credits.charged !== expected) {
    wrong('a list is charged for its matches', { expected, ...batch.credits });
  }
  return expected;
}

type Wrong = (rule: string, about?: object) => void;

function checkWhole({ list }: ListRun, result: Buffer, wrong: Wrong): number {
  if (!result.equals(list.result)) {
    const at = result.findIndex((byte, index) => byte !== list.result[index]);
    const bytes = { expected: list.result.length, found: result.length, firstDifference: at };
    wrong('a result is the same as undisturbed, byte for byte', bytes);
  }
  return list.charged;
}

export interface ResultRow {
  /** The text of the row without its line end. */
  raw: string;
  cells: string[];
}

async function checkPrefix(
  stack: ChaosStack,
  run: ListRun,
  { rows: { total }, credits }: BatchAnswer,
  result: Buffer,
  wrong: Wrong,
): Promise<number> {
  const { list } = run;
  const parts = await stack.ask((sql) => listPartRows(sql, run.id));
  if (list.kind === 'exports') return checkCutExport(run, credits.max, parts, result, wrong);
  const expected = readRows(list.result);
  const found = readRows(result);
  const header = must(expected[0], 'header').cells;
  const statusAt = header.indexOf('match.status');
  // A list that is cancelled before it is split ends at once: its result is the header row.
  const isUnsplit = total === null && run.chargedAtCancel !== null;
  const rows = isUnsplit ? 1 : expected.length;
  if (found.length !== rows || found[0]?.raw !== expected[0]?.raw) {
    wrong('a result has every row', { expected: rows, found: found.length });
    return 0;
  }
  for (const part of parts) checkPart(part, expected, found, statusAt, wrong);
  return countMatched(found) * list.price;
}

/**
 * In an export, unpaid people have no row. One that was not cancelled has the first people, up to its limit; in a
 * cancelled one the people of each part are a prefix of it.
 */
function checkCutExport(
  run: ListRun,
  max: number | null,
  parts: PartRow[],
  result: Buffer,
  wrong: Wrong,
): number {
  const lines = (bytes: Buffer) => bytes.toString('utf8').trimEnd().split('\n');
  const [header, ...expected] = lines(run.list.result);
  const [foundHeader, ...found] = lines(result);
  const cuts =
    run.chargedAtCancel === null
      ? [expected]
      : parts.map(({ firstRow, rows }) => expected.slice(firstRow - 1, firstRow - 1 + rows));
  let at = 0;
  for (const people of cuts) {
    for (const person of people) {
      if (found[at] !== person) break;
      at += 1;
    }
  }
  if (header !== foundHeader || at < found.length) {
    wrong('a cut export has the first people', { at, found: found[at], rows: found.length });
  }
  const { price, charged: all } = run.list;
  const charged = found.length * price;
  if (max === null || run.chargedAtCancel !== null) return charged;
  const most = Math.min(Math.floor(max / price) * price, all);
  if (charged !== most) wrong('max_credits are used up and not exceeded', { most, charged });
  return charged;
}

/**
 * In a part, rows are as undisturbed up to one row, and all after it are `not_processed`. A chunk is one part,
 * unless it failed or was paid in several: free rows may be in the next one.
 */
function checkPart(
  { chunk, firstRow, rows }: PartRow,
  expected: ResultRow[],
  found: ResultRow[],
  statusAt: number,
  wrong: Wrong,
): void {
  let isCut = false;
  for (let row = firstRow; row < firstRow + rows; row++) {
    const [good, now] = [must(expected[row], 'a row'), must(found[row], 'a row')];
    const isUnprocessed = now.cells[statusAt] === 'not_processed';
    const input = (cells: string[]) => JSON.stringify(cells.slice(0, statusAt));
    const isRight = isUnprocessed
      ? input(now.cells) === input(good.cells) && now.cells[statusAt + 4] === '0'
      : now.raw === good.raw && !isCut;
    isCut ||= isUnprocessed;
    if (isRight) continue;
    const about = { chunk, row, expected: good.raw, found: now.raw };
    wrong('a cut result is a prefix of each part', about);
    return;
  }
}

/** Reads the rows of a result in CSV, the header row first. */
export function readRows(result: Buffer): ResultRow[] {
  const rows = parse(result, { raw: true, relax_column_count: true }) as unknown as {
    raw: string;
    record: string[];
  }[];
  return rows.map(({ raw, record }) => ({ raw: raw.trimEnd(), cells: record }));
}

/** Counts the rows with a match. The first row is the header row. */
export function countMatched(rows: readonly ResultRow[]): number {
  const statusAt = must(rows[0], 'header').cells.indexOf('match.status');
  return rows.filter(({ cells }) => cells[statusAt] === 'matched').length;
}
