/** Finds which records of sources are the same person or company, and gives each group one id. */
import type { Sql } from '../../db/client.ts';
import { companyFields, personFields } from '../fields.ts';
import { withoutDerivedIds } from '../import/derive-references.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { recordToJson } from '../record.ts';
import { entityCodes } from '../source-entities.ts';
import { FIRST_ID } from './identify.sql.ts';
import { writeOwnRecords } from './own-records.sql.ts';
import { type Member, OWN_SOURCE, partition } from './partition.ts';
import * as queries from './settle.sql.ts';
import { sureKeysOf } from './sure-keys.ts';
import { isUnknown } from './trust.ts';

/**
 * Contested records of one round; all that are connected with them are in memory, and are decided in less time than the database
 * waits for an idle transaction.
 */
const ROUND_RECORDS = 2_000;
const ADOPTED_PER_ROUND = 5_000;

/**
 * Decides the ids of all touched records (the table `touched` of the transaction) and queues what is to be built. A group keeps
 * the lowest id that one of its records has; an id of one's own is never taken from its record. `innocent` are records that a
 * split by hand takes from a person who opted out and is surely another one: their person gets a new id.
 */
export async function settleTouched(
  tx: Sql,
  importId: number,
  innocent: readonly number[] = [],
): Promise<void> {
  await queries.createTouched(tx);
  await adoptOwnRecords(tx);
  await queries.listContested(tx);
  for (;;) {
    const seeds = await queries.takeContested(tx, ROUND_RECORDS);
    if (seeds.length === 0) break;
    for (const entity of [entityCodes.company, entityCodes.person]) {
      const numbers = seeds.filter((seed) => seed.entity === entity).map(({ number }) => number);
      if (numbers.length > 0) await settleConnected(tx, { entity, importId, innocent, numbers });
    }
  }
  await queries.queueTouched(tx);
}

/**
 * Joins records with ids of one's own, just imported in this transaction, with the records of sources that are surely
 * the same, and queues them to be built. Their own values are those that the import wrote.
 */
export async function followOwnRecords(
  tx: Sql,
  of: 'company' | 'person',
  ids: readonly number[],
): Promise<void> {
  const rows = await queries.listToFollow(tx, of, ids);
  if (rows.length === 0) return;
  await queries.createTouched(tx);
  await adopt(tx, of, rows);
  await settleTouched(tx, 0);
}

async function settleConnected(
  tx: Sql,
  {
    numbers,
    ...change
  }: { entity: number; importId: number; innocent: readonly number[]; numbers: number[] },
): Promise<void> {
  const { entity } = change;
  // A record that is gone joins nothing, and keeps its id for its return.
  const connected = await queries.readConnected(tx, entity, numbers);
  // Otherwise a person of many sources would be decided again for each of them.
  await queries.leaveContested(
    tx,
    connected.map(({ number }) => number),
  );
  const rows = connected.filter((row) => row.record !== null);
  const common = new Set(
    await queries.listCommonValues(tx, [...new Set(rows.flatMap((r) => r.keys))]),
  );
  const isPerson = entity === entityCodes.person;
  const members = rows.map((row) => memberOf(row, common));
  const moves: queries.Move[] = [];
  // A record may have left its first id to others.
  const taken = new Set(await queries.listFirstIdsOfOthers(tx, entity, members));
  const groups = partition(members, isPerson);
  // Groups with a record of one's own first: its id is fixed.
  for (const group of [...groups].sort((a, b) => Number(hasOwn(b)) - Number(hasOwn(a)))) {
    const isInnocent = group.every(({ number }) => change.innocent.includes(number));
    const id =
      (isInnocent && !hasOwn(group) ? undefined : idOf(group, taken)) ??
      FIRST_ID + (await queries.takeNumber(tx));
    taken.add(id);
    for (const member of group) {
      if (member.id !== id) moves.push({ number: member.number, from: member.id, to: id });
    }
  }
  if (moves.length > 0) await queries.moveRecords(tx, { ...change, moves });
}

function hasOwn(group: readonly Member[]): boolean {
  return group.some(({ source }) => source === OWN_SOURCE);
}

/** Returns undefined when each id that the group may have is another's. */
function idOf(group: readonly Member[], taken: ReadonlySet<number>): number | undefined {
  const own = group.find(({ source }) => source === OWN_SOURCE);
  if (own !== undefined) return own.id;
  const ids = group.map(({ id }) => id).filter((id) => !taken.has(id));
  if (ids.length > 0) return Math.min(...ids);
  return group.map(({ number }) => FIRST_ID + number).find((id) => !taken.has(id));
}

function memberOf(row: queries.MemberRow, common: ReadonlySet<string>): Member {
  const { number, source, id, record, keys, apart } = row;
  // Records of different splits share no value.
  const shared = keys
    .filter((key) => !common.has(key))
    .map((key) => (apart === 0 ? key : `${key} #${apart}`));
  return { number, source, id, keys: shared, ...namesOf(record) };
}

function namesOf(record: string | null): Pick<Member, 'name' | 'surname' | 'born'> {
  const { name, surname, birthDate, birthYear } = JSON.parse(record ?? '{}') as JsonRecord;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const year = typeof birthYear === 'number' && birthYear > 0 ? String(birthYear) : '';
  return { name: text(name), surname: text(surname), born: text(birthDate).slice(0, 10) || year };
}

/** Makes stored records with ids of one's own that share a value with a touched one records of the source `own`. */
async function adoptOwnRecords(tx: Sql): Promise<void> {
  for (const of of ['company', 'person'] as const) {
    const rows = await queries.listToAdopt(tx, of);
    for (let from = 0; from < rows.length; from += ADOPTED_PER_ROUND) {
      await adopt(tx, of, rows.slice(from, from + ADOPTED_PER_ROUND));
    }
  }
}

async function adopt(
  tx: Sql,
  of: 'company' | 'person',
  rows: readonly queries.StoredRow[],
): Promise<void> {
  const fields = of === 'company' ? companyFields : personFields;
  const records = rows.map(({ id, record }) => {
    const json = recordToJson(fields, record);
    const { id: _, createdAt, whenUpdated, ...stored } = JSON.parse(json) as JsonRecord;
    const known = Object.entries(stored).filter(([, value]) => !isUnknown(value));
    const values = withoutDerivedIds(Object.fromEntries(known));
    const key = String(id);
    return {
      id,
      record: JSON.stringify({ createdAt, ...values }),
      asOf: String(whenUpdated).slice(0, 10),
      keys: sureKeysOf(OWN_SOURCE, { entity: of, key, record: values }),
    };
  });
  await writeOwnRecords(tx, entityCodes[of], records);
}
