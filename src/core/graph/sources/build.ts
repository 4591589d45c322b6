/** Builds people, companies and their facts from the records of sources, in transactions of some thousands. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Sql } from '../../db/client.ts';
import { assert, must } from '../../lib/assert.ts';
import { suppressBuilt, suppressLeaving } from '../../suppression/suppress.ts';
import { hideOffices, listOfficesToHide } from '../erased-records.sql.ts';
import { type FurtherIdentifier, replaceFurtherIdentifiers } from '../further-identifiers.sql.ts';
import type { Batch, BatchRow, ImportContext } from '../import/batch.ts';
import { isAbsent } from '../import/coerce.ts';
import { createRenderLists, selectCountryCodes } from '../import/import-records.sql.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { companyImporter, personImporter, renderListed } from '../import/record-batch.ts';
import { KeysToWrite } from '../keys-to-write.ts';
import { refreshLookupTitles } from '../lookup-values.sql.ts';
import { refreshNameCounts } from '../name-keys.sql.ts';
import { entityCodes } from '../source-entities.ts';
import { writeGraph } from '../write-graph.ts';
import * as queries from './build.sql.ts';
import { furtherIdentifiers } from './further-identifiers.ts';
import { finishImports, hasUnfinishedImports, noteProblem } from './identify.sql.ts';
import { mergeByTrust, type StoredRecord } from './trust.ts';

/** Of a build, which writes the keys of some parts together. */
type BuildContext = ImportContext & { companyKeys: KeysToWrite };

/** Companies by the references of people. */
type CompanyLinks = ReadonlyMap<string, queries.LinkedCompany>;

const RECORDS_PER_TRANSACTION = 10_000;
/** Records that are read before the event loop feeds the statement that is running. */
const RECORDS_PER_TURN = 200;

/** Longest reason of a failure that is stored. */
const PROBLEM_LENGTH_MAX = 300;

/** Thrown by a callback of an import to stop its work, which is no failure. */
export class ImportStopped extends Error {}

/**
 * Builds everything that is queued, in transactions that may be repeated: an import that was interrupted here goes
 * on where it was, also when all is built and only the counts are missing. Then marks the imports as done. When it fails, the
 * imports that are not built have the reason, until a build ends. `counts` is false for a few records: names and titles, which
 * are counted over the whole graph, are counted again by the next import. Where nothing is left to do they are not.
 */
export async function buildQueued(
  sql: Database,
  onProgress: (queued: number) => void = () => {},
  options: { counts?: boolean } = {},
): Promise<void> {
  try {
    await buildAndFinish(sql, onProgress, options);
  } catch (error) {
    // The failure itself matters more than one of the note, as of a database that is away.
    if (!(error instanceof ImportStopped)) {
      await noteProblem(sql, reasonOf(error)).catch(() => {});
    }
    throw error;
  }
}

/** The reason of a failure, in the words of its error. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, PROBLEM_LENGTH_MAX);
}

async function buildAndFinish(
  sql: Database,
  onProgress: (queued: number) => void,
  { counts = true }: { counts?: boolean },
): Promise<void> {
  const importedAt = new Date().toISOString().slice(0, 19);
  const companyKeys = new KeysToWrite();
  const countryCodes = await selectCountryCodes(sql);
  const context = { importedAt, countryCodes, dropped: {}, companyKeys };
  const report = async () => onProgress(await queries.countQueued(sql));
  if (await hasUnfinishedImports(sql)) await hideErasedMeanwhile(sql);
  const companies = await buildCompanies(sql, context, report);
  const people = await buildAll(sql, 'person', context, report);
  const isCounted = companies + people > 0 || (await hasUnfinishedImports(sql));
  if (counts && isCounted) {
    await writeGraph(sql, refreshLookupTitles);
    await writeGraph(sql, refreshNameCounts);
  }
  await finishImports(sql);
}

/** Hides the offices of people who were erased while the imports that are not built yet were written. */
async function hideErasedMeanwhile(sql: Database): Promise<void> {
  // An erasure that goes on then sees what they have written, and one that has ended is seen.
  await writeGraph(sql, async () => {});
  const offices = await listOfficesToHide(sql);
  if (offices.length > 0) await writeGraph(sql, (tx) => hideOffices(tx, offices));
}

async function buildCompanies(
  sql: Database,
  context: BuildContext,
  report: () => Promise<void>,
): Promise<number> {
  const built = await buildAll(sql, 'company', context, report);
  await context.companyKeys.write(sql);
  return built;
}

/**
 * Builds all queued people or companies; returns how many. While one part is written the next one is read. People have the
 * industry of their company as it is built: companies that another import has queued since come before them.
 */
async function buildAll(
  sql: Database,
  of: 'company' | 'person',
  context: BuildContext,
  report: () => Promise<void>,
): Promise<number> {
  const readAfter = async (after: number): Promise<QueuedPart> => {
    const limit = RECORDS_PER_TRANSACTION;
    const ids = await queries.listQueued(sql, entityCodes[of], { after, limit });
    // The companies of people are looked up in the transaction, and so people are read there.
    return { ids, read: of === 'company' ? await readPart(sql, of, ids, context) : null };
  };
  let built = 0;
  let part = await readAfter(0);
  while (part.ids.length > 0) {
    const current = part;
    const next = readAfter(must(current.ids.at(-1), 'id'));
    // A failure is thrown when the next part is awaited; until then it must not count as unhandled.
    next.catch(() => {});
    const count = await writeGraph(sql, async (tx) => {
      const isEarly = of === 'person' && (await queries.isCompanyQueued(tx));
      return isEarly ? null : buildPart(tx, of, context, current);
    });
    built += count ?? (await buildCompanies(sql, context, report));
    if (context.companyKeys.isFull()) await context.companyKeys.write(sql);
    await report();
    part = await next;
    // What was queued meanwhile, or had to wait for companies.
    if (part.ids.length === 0) part = await readAfter(0);
  }
  return built;
}

/** Some queued people or companies, with what is built from their records. */
interface Part {
  /** The versions of their records. */
  versions: string;
  batch: Batch<BatchRow>;
  /** Ids of which nothing is built. */
  unbuilt: readonly number[];
  /** Of its people. */
  further: readonly FurtherIdentifier[];
}

/** Queued ids; `read` is null when their part is read in the transaction that writes it. */
interface QueuedPart {
  ids: readonly number[];
  read: Part | null;
}

async function readPart(
  sql: Sql,
  of: 'company' | 'person',
  ids: readonly number[],
  context: ImportContext,
): Promise<Part> {
  const live = await queries.readLiveRecords(sql, entityCodes[of], ids);
  const links: CompanyLinks = of === 'person' ? await resolveCompanies(sql, live) : new Map();
  const unbuilt = new Set(ids);
  const batch = (of === 'company' ? companyImporter : personImporter).createBatch(context);
  const further: FurtherIdentifier[] = [];
  let read = 0;
  for (const stored of groupsById(live)) {
    read += 1;
    // The part before this one is being written.
    if (read % RECORDS_PER_TURN === 0) await nextTurn();
    const { record } = mergeByTrust(stored.records, of);
    // The seat of a company whose own record is missing or hidden names no company.
    if (of === 'company' && isAbsent(record.name)) continue;
    unbuilt.delete(stored.id);
    const given = of === 'company' ? record : withCompany(record, links);
    if (of === 'person') {
      further.push(...furtherIdentifiers(stored.id, stored.records, record, context));
    }
    addRecord(batch, { ...given, id: stored.id }, context);
  }
  return { versions: queries.versionsOf(live), batch, unbuilt: [...unbuilt], further };
}

/** Builds a part, read again if its records have changed since; returns how many people or companies were queued. */
async function buildPart(
  tx: Sql,
  of: 'company' | 'person',
  context: ImportContext,
  queued: QueuedPart,
): Promise<number> {
  const entity = entityCodes[of];
  const { ids, hidden } = await queries.takeQueued(tx, entity, queued.ids);
  await queries.endMerges(tx, entity, ids);
  const isCurrent =
    queued.read !== null &&
    ids.join() === queued.ids.join() &&
    queued.read.versions === (await queries.readVersions(tx, entity, ids));
  const { batch, unbuilt, further } =
    isCurrent && queued.read !== null ? queued.read : await readPart(tx, of, ids, context);
  const rows = batch.rows();
  if (rows.length > 0) await batch.merge(tx, rows);
  else await createRenderLists(tx);
  if (of === 'company') {
    const ended = await queries.deleteEndedCompanies(tx, unbuilt);
    await queries.buildFacts(tx, ids);
    if (ended > 0) await renderListed(tx);
  } else {
    const ended = new Set(unbuilt);
    const built = ids.filter((id) => !ended.has(id));
    // Those of who leaves are noted with the other identifiers.
    await replaceFurtherIdentifiers(tx, built, further);
    await suppressBuilt(tx, ids, hidden);
    await suppressLeaving(tx, unbuilt);
    await queries.deleteEndedPersons(tx, ids);
  }
  return ids.length;
}

/**
 * Adds a record, from which a value that its field cannot hold is left out and counted, so that no record is lost.
 */
function addRecord(batch: Batch<BatchRow>, record: JsonRecord, { dropped }: ImportContext): void {
  for (;;) {
    const problem = batch.add({ line: 0, size: 0, source: {}, record });
    if (problem === null) return;
    const field = must(problem.field, problem.reason);
    assert(record[field] !== undefined, `the field ${field} cannot be left out: ${problem.reason}`);
    delete record[field];
    dropped[field] = (dropped[field] ?? 0) + 1;
  }
}

/** Yields the records of each person or company. */
function* groupsById(
  live: readonly queries.LiveRecord[],
): Generator<{ id: number; records: StoredRecord[] }> {
  let group: { id: number; records: StoredRecord[] } | null = null;
  for (const { id, record, version: _, ...origin } of live) {
    if (group !== null && group.id !== id) {
      yield group;
      group = null;
    }
    group ??= { id, records: [] };
    group.records.push({ ...origin, record: JSON.parse(record) as JsonRecord });
  }
  if (group !== null) yield group;
}

async function resolveCompanies(
  tx: Sql,
  live: readonly queries.LiveRecord[],
): Promise<CompanyLinks> {
  const references = new Set<string>();
  for (const { record } of live) {
    if (!record.includes('"_company"')) continue;
    const { _company: listed } = JSON.parse(record) as JsonRecord;
    if (Array.isArray(listed)) for (const reference of listed) references.add(String(reference));
  }
  return references.size === 0 ? new Map() : queries.resolveCompanyReferences(tx, [...references]);
}

/**
 * Replaces the references of a record by the id of its company; a person whose industry no source names has that of
 * the company.
 */
function withCompany(record: JsonRecord, links: CompanyLinks): JsonRecord {
  const { _company: listed, _person: _, otherEmails: __, _sameAs: ___, ...rest } = record;
  if (!Array.isArray(listed)) return rest;
  const company = listed
    .map((reference) => links.get(String(reference)))
    .find((found) => found !== undefined);
  if (company === undefined || typeof rest.companyId === 'number') return rest;
  const isNamed = !isAbsent(rest.industry) || !isAbsent(rest.industryId);
  const industries = isNamed || company.industry === null ? {} : { industries: company.industry };
  return { ...rest, ...industries, companyId: company.id };
}
