/**
 * Checks an account that pays for each person once: from all that its lists, exports and calls delivered follows what
 * it must have been charged.
 */
import { must } from '../../src/core/lib/assert.ts';
import { ownedBy, priceOf } from '../../src/core/operations.ts';
import type { ApiCaller } from './api-caller.ts';
import type { CallDriver } from './call-driver.ts';
import { type ResultRow, readRows } from './check-lists.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';
import { batchOf, type KnownList } from './lists.ts';

const idColumns = ['id', 'person.id'];

/** Returns the lists of records whose results name the people in them. */
export function ownableLists(lists: readonly KnownList[]): KnownList[] {
  return lists.filter(({ operation, result }) => {
    const [header] = readRows(result.subarray(0, result.indexOf('\n') + 1));
    return ownedBy(operation) === 'record' && idAt(header) >= 0;
  });
}

/** Returns the credits that the account must have been charged, by the people whom it got. */
export async function checkOwner(
  api: ApiCaller,
  history: History,
  runs: readonly ListRun[],
  calls: CallDriver,
): Promise<number> {
  const records = new Set<number>();
  const mobiles = new Set<number>();
  let verified = 0;
  for (const { operation, person } of calls.delivered) {
    if (operation === 'people.email-verify') verified += 1;
    else (operation === 'people.mobile' ? mobiles : records).add(must(person, 'a person'));
  }
  let charged = 0;
  for (const run of runs) {
    const { list, account, id } = run;
    const call = { key: account.key, id };
    const base = `get /v1/${list.kind}/{id}`;
    const batch = batchOf(await api.until({ ...call, route: base }));
    const results = must(await api.until({ ...call, route: `${base}/results` }), 'a result');
    const rows = readRows(results.bytes);
    charged += batch.credits.charged;
    for (const person of peopleOf(rows)) records.add(person);
    const isWhole = run.chargedAtCancel === null && batch.credits.max === null;
    const different = isWhole ? firstDifference(rows, readRows(list.result)) : null;
    if (different !== null) {
      history.violate('a result is the same as undisturbed but for its credits', {
        id,
        list: list.name,
        ...different,
      });
    }
    if (list.kind === 'batches' && creditsOf(rows) !== batch.credits.charged) {
      const { credits } = batch;
      history.violate('the rows of a list say what was charged', {
        id,
        credits,
        rows: creditsOf(rows),
      });
    }
  }
  const about = { people: records.size, mobiles: mobiles.size, verified, charged };
  history.tell('owned', about);
  if (records.size === 0 || charged > records.size) {
    history.violate('an account that owns people pays for each once', about);
  }
  return (
    records.size * priceOf('people.enrich') +
    mobiles.size * priceOf('people.mobile') +
    verified * priceOf('people.email-verify')
  );
}

/** Returns the column of the person's id in a result; -1 without one. */
export function idAt(header: ResultRow | undefined): number {
  return header?.cells.findLastIndex((name) => idColumns.includes(name)) ?? -1;
}

/** The people in the matched rows of a list, or in all rows of an export. */
function peopleOf([header, ...rows]: readonly ResultRow[]): number[] {
  const [at, statusAt] = [idAt(header), header?.cells.indexOf('match.status') ?? -1];
  const matched = rows.filter(({ cells }) => statusAt < 0 || cells[statusAt] === 'matched');
  return matched.map(({ cells }) => Number(cells[at]));
}

function creditsOf([header, ...rows]: readonly ResultRow[]): number {
  const at = must(header, 'header').cells.indexOf('match.credits');
  return rows.reduce((sum, { cells }) => sum + Number(cells[at]), 0);
}

/**
 * The first row that differs in more than its credits, by its place; null when none does. Where matches cost nothing,
 * only so many ambiguous rows are told in a minute: the others are misses.
 */
function firstDifference(found: readonly ResultRow[], expected: readonly ResultRow[]) {
  const names = must(expected[0], 'header').cells;
  const statusAt = names.indexOf('match.status');
  const text = (row: ResultRow | undefined, counts: (name: string) => boolean) =>
    JSON.stringify(row?.cells.filter((_, index) => counts(names[index] ?? '')));
  for (let place = 0; place < Math.max(found.length, expected.length); place++) {
    const [one, other] = [found[place], expected[place]];
    const isUntold = other?.cells[statusAt] === 'ambiguous' && one?.cells[statusAt] === 'no_match';
    const counts = (name: string) =>
      isUntold ? !name.startsWith('match.') : name !== 'match.credits';
    if (text(one, counts) !== text(other, counts)) {
      return { place, found: one?.cells, expected: other?.cells };
    }
  }
  return null;
}
