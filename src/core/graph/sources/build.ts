/** Builds people, companies and their facts from the records of sources, in transactions of some thousands. */
import type { Database, Sql } from '../../db/client.ts';
import { assert, must } from '../../lib/assert.ts';
import type { Batch, BatchRow, ImportContext } from '../import/batch.ts';
import { createRenderLists, selectCountryCodes } from '../import/import-records.sql.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { companyImporter, personImporter, renderListed } from '../import/record-batch.ts';
import { refreshLookupTitles } from '../lookup-values.sql.ts';
import { refreshNameCounts } from '../name-keys.sql.ts';
import { writeGraph } from '../write-graph.ts';
import * as queries from './build.sql.ts';
import { finishImports } from './identify.sql.ts';
import { entityCodes } from './source-record.ts';
import { mergeByTrust, type StoredRecord } from './trust.ts';

const RECORDS_PER_TRANSACTION = 20_000;

/**
 * Builds everything that is queued, in transactions that may be repeated: an import that was interrupted here goes
 * on where it was. Then marks the imports as done.
 */
export async function buildQueued(
  sql: Database,
  onProgress: (queued: number) => void = () => {},
): Promise<void> {
  const importedAt = new Date().toISOString().slice(0, 19);
  const context = { importedAt, countryCodes: await selectCountryCodes(sql), dropped: {} };
  let hasPeople = false;
  for (const of of ['company', 'person'] as const) {
    for (;;) {
      const built = await writeGraph(sql, (tx) => buildSome(tx, of, context));
      if (built === 0) break;
      hasPeople ||= of === 'person';
      onProgress(await queries.countQueued(sql));
    }
  }
  if (hasPeople) await writeGraph(sql, refreshLookupTitles);
  await writeGraph(sql, refreshNameCounts);
  await finishImports(sql);
}

/** Builds some thousand queued people or companies; returns how many were queued. */
async function buildSome(
  tx: Sql,
  of: 'company' | 'person',
  context: ImportContext,
): Promise<number> {
  const entity = entityCodes[of];
  const ids = await queries.takeQueued(tx, entity, RECORDS_PER_TRANSACTION);
  if (ids.length === 0) return 0;
  const live = await queries.readLiveRecords(tx, entity, ids);
  const links = of === 'person' ? await resolveCompanies(tx, live) : new Map<string, number>();
  const builtIds: number[] = [];
  const batch = (of === 'company' ? companyImporter : personImporter).createBatch(context);
  for (const stored of groupById(live)) {
    const { record } = mergeByTrust(stored.records, of);
    // The seat of a company whose own record is missing or hidden names no company.
    if (of === 'company' && record.name === undefined) continue;
    builtIds.push(stored.id);
    addRecord(batch, { ...withCompany(record, links), id: stored.id }, context);
  }
  const rows = batch.rows();
  if (rows.length > 0) await batch.merge(tx, rows);
  else await createRenderLists(tx);
  if (of === 'company') {
    const ended = await queries.deleteEndedCompanies(tx, ids, builtIds);
    await queries.buildFacts(tx, ids);
    if (ended > 0) await renderListed(tx);
  } else {
    await queries.deleteEndedPersons(tx, ids);
  }
  return ids.length;
}

/** Adds a record; a value that its field cannot hold is left out and counted, so that no record is lost. */
function addRecord(batch: Batch<BatchRow>, given: JsonRecord, { dropped }: ImportContext): void {
  const record = { ...given };
  for (;;) {
    const problem = batch.add({ line: 0, size: 0, source: record, record });
    if (problem === null) return;
    const field = must(problem.field, problem.reason);
    assert(record[field] !== undefined, `the field ${field} cannot be left out: ${problem.reason}`);
    delete record[field];
    dropped[field] = (dropped[field] ?? 0) + 1;
  }
}

function groupById(live: readonly queries.LiveRecord[]): { id: number; records: StoredRecord[] }[] {
  const groups: { id: number; records: StoredRecord[] }[] = [];
  for (const { id, record, ...origin } of live) {
    const stored = { ...origin, record: JSON.parse(record) as JsonRecord };
    const last = groups.at(-1);
    if (last?.id === id) last.records.push(stored);
    else groups.push({ id, records: [stored] });
  }
  return groups;
}

async function resolveCompanies(
  tx: Sql,
  live: readonly queries.LiveRecord[],
): Promise<Map<string, number>> {
  const references = new Set<string>();
  for (const { record } of live) {
    if (!record.includes('"_company"')) continue;
    const { _company: listed } = JSON.parse(record) as JsonRecord;
    if (Array.isArray(listed)) for (const reference of listed) references.add(String(reference));
  }
  return references.size === 0 ? new Map() : queries.resolveCompanyReferences(tx, [...references]);
}

/** Replaces the references of a record by the id of its company. */
function withCompany(record: JsonRecord, links: ReadonlyMap<string, number>): JsonRecord {
  const { _company: listed, _person: _, otherEmails: __, _sameAs: ___, ...rest } = record;
  if (!Array.isArray(listed)) return rest;
  const id = listed
    .map((reference) => links.get(String(reference)))
    .find((found) => found !== undefined);
  return id === undefined || typeof rest.companyId === 'number' ? rest : { ...rest, companyId: id };
}
