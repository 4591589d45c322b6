/**
 * The proof of an erasure: every table and every stored object is searched for what named the person. What
 * customers wrote themselves (uploads, and the columns of a result that repeat them) is theirs; it is
 * named, and no failure.
 */
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import type { PersonIdentifier } from '../../core/suppression/suppress.ts';
import { addedTexts } from '../result/added-texts.ts';
import { findShown } from '../result/find-subjects.ts';
import type { PartsContext } from '../result/read-part.ts';
import { countRowsOfPeople, listTables, searchTable } from './erasure.sql.ts';
import { kindsIn, type Needle, needleOf } from './needles.ts';

export interface Finding {
  /** A table, or the key of an object. */
  where: string;
  /** What was found there: kinds of identifiers, or `id`. */
  found: string[];
}

export interface ErasureAudit {
  swept: { tables: number; objects: number; bytes: number };
  /** Where something is left; empty when the person is gone. */
  left: Finding[];
  /** Where customers' own text holds an identifier. */
  customer_uploads: Finding[];
}

/** A list's header and name, and the address of a webhook, are text of the customer. */
const customerTables: ReadonlySet<string> = new Set([
  'public.batches',
  'public.uploads',
  'public.webhooks',
]);

/** Searches everything for ids and identifiers of somebody. */
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
  for (const { objectKey } of await findShown(context, ids)) {
    audit.left.push({ where: objectKey, found: ['id'] });
  }
  await sweepTables(context, needles, audit);
  await sweepObjects(context, needles, identifiers.map(asBytes).map(needleOf), audit);
  return audit;
}

async function sweepTables(
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

/** Uploads, and what is made of them before the match. */
const customerKey = /^uploads\/|^batches\/[^/]+\/(upload|canonical-)/;
const partKey = /^batches\/([^/]+)\/parts\/[^/]+\.csv$/;

/** Blocks of an object end anywhere: they are read a byte a character, and so is what is searched for. */
function asBytes({ kind, value }: PersonIdentifier): PersonIdentifier {
  return { kind, value: Buffer.from(value).toString('latin1') };
}

async function sweepObjects(
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

/** Which of the found kinds stand in text of the service, not in a customer's own. */
async function foundInOurs(
  context: PartsContext,
  key: string,
  needles: readonly Needle[],
  found: string[],
): Promise<string[]> {
  if (customerKey.test(key)) return [];
  const batchId = partKey.exec(key)?.[1];
  if (batchId === undefined) return found;
  return kindsIn((await addedTexts(context, batchId, key)).toLowerCase(), needles);
}

/** No identifier is longer, with what stands before and behind it. */
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
    // It was deleted in between.
    if (!isObjectMissing(error)) throw error;
  }
  return [...found];
}
