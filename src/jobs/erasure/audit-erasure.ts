/**
 * Proves an erasure: searches every table, every stored object and the local copy of the graph on this machine for the
 * person's identifiers, and asks the workers of others about theirs. Text that
 * customers wrote (uploads, and the result columns that repeat them) belongs to them: it is reported, but not
 * as a failure.
 */
import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../core/context.ts';
import { fileName, listCopyFiles } from '../../core/graph-copy/manifest.ts';
import { PUBLISHED_PREFIX } from '../../core/graph-copy/published-objects.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import type { PersonIdentifier } from '../../core/suppression/suppress.ts';
import { isOfOneObject } from '../batch/one-object.ts';
import { addedTexts } from '../result/added-texts.ts';
import { findPartsOf, isPartOf } from '../result/find-subjects.ts';
import { partOfPersonIndex } from '../result/part-keys.ts';
import type { PartsContext } from '../result/read-part.ts';
import {
  type AfterDeletion,
  countRowsOfPeople,
  listHostsBehind,
  listTables,
  searchResponses,
  searchTable,
} from './erasure.sql.ts';
import { blockNeedleOf, kindsIn, type Needle, needleOf } from './needles.ts';

export interface Finding {
  /** A table, an object key, a file of the local copy, or the host of a worker whose copy is not known to lack the person. */
  where: string;
  /**
   * Kinds of identifiers found there, or `id`; empty for a host, a table that is still written, and an object that cannot be
   * read.
   */
  found: string[];
}

export interface ErasureAudit {
  swept: { tables: number; objects: number; copied_files: number; bytes: number };
  /** Remaining traces; empty when the person is erased. */
  left: Finding[];
  /** Customers' own text that contains an identifier. */
  customer_uploads: Finding[];
}

/**
 * Tables with text of customers: a list's header and name, names of imported files and a preview of one, filters, columns of
 * mappings, names of keys, and URLs of webhooks.
 */
const customerTables: ReadonlySet<string> = new Set([
  'graph.imports',
  'public.api_keys',
  'public.batches',
  'public.import_runs',
  'public.list_mappings',
  'public.named_mappings',
  'public.saved_searches',
  'public.schedules',
  'public.uploads',
  'public.webhooks',
]);
/** Here keys of calls, and what responses repeat of a call, are the customer's text; what they say about a match is not. */
const RESPONSES = 'public.idempotency_keys';

export type ErasureContext = PartsContext & Pick<Context, 'localCopy'>;

/** Searches everything for the ids and identifiers of a person who was deleted before the moment `after`. */
export async function auditErasure(
  context: ErasureContext,
  ids: readonly number[],
  identifiers: readonly PersonIdentifier[],
  after: AfterDeletion,
): Promise<ErasureAudit> {
  const needles = identifiers.map(needleOf);
  const audit: ErasureAudit = {
    swept: { tables: 0, objects: 0, copied_files: 0, bytes: 0 },
    left: [],
    customer_uploads: [],
  };
  for (const { where } of await countRowsOfPeople(context.sql, ids)) {
    audit.left.push({ where, found: ['id'] });
  }
  for (const { objectKey } of await findPartsOf(context, ids)) {
    audit.left.push({ where: objectKey, found: ['id'] });
  }
  await searchTables(context, needles, audit);
  const bytes = identifiers.map(asBytes);
  const mentions = bytes.map(needleOf);
  const inBlocks = [...mentions, ...bytes.map(blockNeedleOf)];
  await searchObjects(context, { ids, needles, mentions, inBlocks }, audit);
  await searchCopy(context, { mentions, inBlocks }, audit);
  for (const host of await listHostsBehind(context.sql, after)) {
    audit.left.push({ where: `local copy on ${host}`, found: [] });
  }
  return audit;
}

async function searchTables(
  { sql }: PartsContext,
  needles: readonly Needle[],
  audit: ErasureAudit,
): Promise<void> {
  const holding = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const patterns = needles.flatMap(({ parts }) => parts.map(holding));
  for (const table of await listTables(sql)) {
    audit.swept.tables++;
    if (patterns.length === 0) continue;
    const found = await kindsInPages(searchTable(sql, table, patterns), needles);
    if (found.length === 0) continue;
    const ours =
      table === RESPONSES
        ? await kindsInPages(searchResponses(sql, patterns), needles)
        : customerTables.has(table)
          ? []
          : found;
    const customers = found.filter((kind) => !ours.includes(kind));
    if (ours.length > 0) audit.left.push({ where: table, found: ours });
    if (customers.length > 0) audit.customer_uploads.push({ where: table, found: customers });
  }
}

async function kindsInPages(
  pages: AsyncIterable<string[]>,
  needles: readonly Needle[],
): Promise<string[]> {
  const found = new Set<string>();
  for await (const rows of pages) {
    for (const kind of rows.flatMap((row) => kindsIn(row, needles))) found.add(kind);
  }
  return [...found];
}

/** Uploads, and copies of them made before the match. */
const CUSTOMER_KEY = /^(uploads|imports)\/|^batches\/[^/]+\/(upload|canonical-)/;
const PART_KEY = /^batches\/([^/]+)\/parts\/[^/]+\.csv$/;

/** Blocks of an object end anywhere, so they are decoded one byte per character, as are the search texts. */
function asBytes({ kind, value }: PersonIdentifier): PersonIdentifier {
  return { kind, value: Buffer.from(value).toString('latin1') };
}

/** The person in objects: in person indexes, in added cells, and in bytes. */
interface Sought extends ByteNeedles {
  ids: readonly number[];
  needles: readonly Needle[];
}

/** Search texts for bytes: those of a text, and those of a text or a file of blocks of a copy of the graph. */
interface ByteNeedles {
  mentions: readonly Needle[];
  inBlocks: readonly Needle[];
}

async function searchObjects(
  context: PartsContext,
  { ids, needles, mentions, inBlocks }: Sought,
  audit: ErasureAudit,
): Promise<void> {
  for await (const key of context.store.list()) {
    audit.swept.objects++;
    const byteNeedles = key.startsWith(PUBLISHED_PREFIX) ? inBlocks : mentions;
    const found = await searchObject(context, key, byteNeedles, audit);
    if (found === null) audit.left.push({ where: key, found: [] });
    // By its id a person is found also when it is erased again: the identifiers are no longer known then.
    const part = partOfPersonIndex(key);
    const isListed = audit.left.some(({ where }) => where === part || where === key);
    if (part !== null && !isListed && (await isPartOf(context, part, ids))) {
      audit.left.push({ where: part, found: ['id'] });
    }
    if (found === null || found.length === 0) continue;
    const ours = await foundInOurs(context, key, needles, found);
    if (ours.length > 0) audit.left.push({ where: key, found: ours });
    else audit.customer_uploads.push({ where: key, found });
  }
}

/** The found kinds that are in the service's text, not in a customer's own. */
async function foundInOurs(
  context: PartsContext,
  key: string,
  needles: readonly Needle[],
  found: string[],
): Promise<string[]> {
  if (CUSTOMER_KEY.test(key)) return [];
  const batchId = PART_KEY.exec(key)?.[1];
  if (batchId === undefined) return found;
  return kindsIn((await addedTexts(context, batchId, key)).toLowerCase(), needles);
}

/** Longer than any identifier with its surrounding characters. */
const OVERLAP_CHARACTERS = 1_000;

/** Returns the kinds that an object contains; null when it cannot be read. */
async function searchObject(
  { store }: PartsContext,
  key: string,
  needles: readonly Needle[],
  audit: ErasureAudit,
): Promise<string[] | null> {
  try {
    return await searchBlocks(store.getStream(key), needles, audit);
  } catch (error) {
    // It was deleted meanwhile.
    if (isObjectMissing(error)) return [];
    if (await isOfOneObject(store, error)) return null;
    throw error;
  }
}

/** Searches the files of this machine's copy: a new one is sound, and half a build is none. */
async function searchCopy(
  { localCopy }: ErasureContext,
  { mentions, inBlocks }: ByteNeedles,
  audit: ErasureAudit,
): Promise<void> {
  for (const file of await listCopyFiles(localCopy.folder)) {
    audit.swept.copied_files++;
    // Companies have other codes.
    const needles = path.basename(file) === fileName('people', 'blocks') ? inBlocks : mentions;
    try {
      const found = await searchBlocks(createReadStream(file), needles, audit);
      if (found.length > 0) audit.left.push({ where: file, found });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Returns the kinds that the blocks of a stream contain. */
async function searchBlocks(
  stream: AsyncIterable<Buffer>,
  needles: readonly Needle[],
  audit: ErasureAudit,
): Promise<string[]> {
  const found = new Set<string>();
  let before = '';
  for await (const block of stream) {
    audit.swept.bytes += block.length;
    const text = before + block.toString('latin1').toLowerCase();
    for (const kind of kindsIn(text, needles)) found.add(kind);
    before = text.slice(-OVERLAP_CHARACTERS);
  }
  return [...found];
}
