/**
 * Proves an erasure: searches every table and every stored object for the person's identifiers. Text that
 * customers wrote (uploads, and the result columns that repeat them) belongs to them: it is reported, but not
 * as a failure.
 */
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import type { PersonIdentifier } from '../../core/suppression/suppress.ts';
import { addedTexts } from '../result/added-texts.ts';
import { findPartsOf } from '../result/find-subjects.ts';
import type { PartsContext } from '../result/read-part.ts';
import { countRowsOfPeople, listTables, searchTable } from './erasure.sql.ts';
import { kindsIn, type Needle, needleOf } from './needles.ts';

export interface Finding {
  /** A table or an object key. */
  where: string;
  /** Kinds of identifiers found there, or `id`. */
  found: string[];
}

export interface ErasureAudit {
  swept: { tables: number; objects: number; bytes: number };
  /** Remaining traces; empty when the person is erased. */
  left: Finding[];
  /** Customers' own text that contains an identifier. */
  customer_uploads: Finding[];
}

/** A list's header and name, and the URL of a webhook, are the customer's text. */
const customerTables: ReadonlySet<string> = new Set([
  'public.batches',
  'public.uploads',
  'public.webhooks',
]);

/** Searches everything for the ids and identifiers of a person. */
export async function auditErasure(
  context: PartsContext,
  ids: readonly number[],
  identifiers: readonly PersonIdentifier[],
): Promise<ErasureAudit> {
  const needles = identifiers.map(needleOf);
  const audit: ErasureAudit = {
    swept: { tables: 0, objects: 0, bytes: 0 },
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
  await searchObjects(context, needles, identifiers.map(asBytes).map(needleOf), audit);
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
    const rows = await searchTable(sql, table, patterns);
    const found = [...new Set(rows.flatMap((row) => kindsIn(row, needles)))];
    if (found.length === 0) continue;
    const list = customerTables.has(table) ? audit.customer_uploads : audit.left;
    list.push({ where: table, found });
  }
}

/** Uploads, and copies of them made before the match. */
const CUSTOMER_KEY = /^uploads\/|^batches\/[^/]+\/(upload|canonical-)/;
const PART_KEY = /^batches\/([^/]+)\/parts\/[^/]+\.csv$/;

/** Blocks of an object end anywhere, so they are decoded one byte per character, as are the search texts. */
function asBytes({ kind, value }: PersonIdentifier): PersonIdentifier {
  return { kind, value: Buffer.from(value).toString('latin1') };
}

async function searchObjects(
  context: PartsContext,
  needles: readonly Needle[],
  byteNeedles: readonly Needle[],
  audit: ErasureAudit,
): Promise<void> {
  for await (const key of context.store.list()) {
    audit.swept.objects++;
    const found = await searchObject(context, key, byteNeedles, audit);
    if (found.length === 0) continue;
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

async function searchObject(
  { store }: PartsContext,
  key: string,
  needles: readonly Needle[],
  audit: ErasureAudit,
): Promise<string[]> {
  const found = new Set<string>();
  let before = '';
  try {
    for await (const block of store.getStream(key) as AsyncIterable<Buffer>) {
      audit.swept.bytes += block.length;
      const text = before + block.toString('latin1').toLowerCase();
      for (const kind of kindsIn(text, needles)) found.add(kind);
      before = text.slice(-OVERLAP_CHARACTERS);
    }
  } catch (error) {
    // It was deleted meanwhile.
    if (!isObjectMissing(error)) throw error;
  }
  return [...found];
}
