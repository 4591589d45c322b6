/**
 * The deep audit: reads every stored object of every batch, verifies its checksum, and compares the rows of
 * ended lists with the counts and charges of the batch.
 */

import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { readRecord } from '../../formats/csv/cells.ts';
import type { Batch } from '../batch/batch.ts';
import { findBatch, isExpired } from '../batch/batches.sql.ts';
import { scanPart } from '../result/part-records.ts';
import type { PartsContext } from '../result/read-part.ts';
import { matchColumns } from '../result/render-part.ts';
import { layoutOf } from '../result/result-layout.ts';
import { listBatchesWithFiles } from './audit.sql.ts';
import type { AuditCheck } from './audit.ts';
import { checkObjects } from './check-objects.ts';

const BATCHES_AT_ONCE = 1_000;
/** A lost bucket would fill the screen with names. */
const NAMED_MAX = 20;

const cellOf = {
  status: matchColumns.indexOf('match.status'),
  credits: matchColumns.indexOf('match.credits'),
};

/** The outcomes and credits in the stored rows of a list. */
interface Recount {
  outcomes: Partial<Record<OutcomeStatus, number>>;
  credits: number;
  /** Rows of people who opted out after they were charged. */
  withheld: number;
}

/** An object that is not as it was written, and its list or export. */
export interface BrokenObject {
  object: string;
  batch_id: string;
  kind: Batch['kind'];
}

export interface PartsAudit {
  checks: AuditCheck[];
  /** Number of stored objects that were read; the first ones that are missing; the first ones that are damaged or cannot be read. */
  objects: { checked: number; missing: BrokenObject[]; damaged: BrokenObject[] };
}

/**
 * Reads all stored objects and recounts all stored results, one part in memory at a time. A list that ended longer ago than
 * files are kept has no missing objects: housekeeping deletes its files.
 */
export async function auditParts(
  context: PartsContext & { config: { filesKeepDays: number } },
): Promise<PartsAudit> {
  const broken = { missing: 0, damaged: 0, outcomes: 0, credits: 0 };
  const objects: PartsAudit['objects'] = { checked: 0, missing: [], damaged: [] };
  for await (const batch of batchesWithFiles(context)) {
    const recount: Recount = { outcomes: {}, credits: 0, withheld: 0 };
    const { unreadable, gone, ...found } = await checkObjects(context, batch, (part) =>
      countRows(recount, batch, part),
    );
    found.damaged.push(...unreadable.map(({ key }) => key));
    objects.checked += found.checked;
    const isOver =
      found.missing.length > 0 &&
      (await isExpired(context.sql, batch.id, context.config.filesKeepDays));
    if (isOver) continue;
    for (const how of ['missing', 'damaged'] as const) {
      broken[how] += found[how].length;
      const named = found[how].slice(0, NAMED_MAX - objects[how].length);
      const { id, kind } = batch;
      objects[how].push(...named.map((object) => ({ object, batch_id: id, kind })));
    }
    // Redaction removes people from an export without a trace, so its rows cannot be recounted.
    const unread = gone + found.missing.length + found.damaged.length;
    if (batch.kind === 'export' || unread > 0) continue;
    if (batch.state !== 'completed' && batch.state !== 'cancelled') continue;
    if (!hasSameOutcomes(batch, recount)) broken.outcomes += 1;
    if (recount.credits !== batch.creditsCharged) broken.credits += 1;
  }
  const checks = [
    { name: 'every recorded object is stored', violations: broken.missing },
    { name: 'every stored object is as it was written', violations: broken.damaged },
    { name: 'the stored rows of every list have its outcomes', violations: broken.outcomes },
    { name: 'the stored rows of every list cost what it was charged', violations: broken.credits },
  ];
  return { checks, objects };
}

/** Every batch that still has its files, by id. */
export async function* batchesWithFiles({ sql }: Pick<PartsContext, 'sql'>): AsyncGenerator<Batch> {
  let after: string | null = null;
  while (true) {
    const ids: string[] = await listBatchesWithFiles(sql, after, BATCHES_AT_ONCE);
    for (const id of ids) {
      const batch = await findBatch(sql, id);
      if (batch !== undefined) yield batch;
    }
    after = ids.at(-1) ?? null;
    if (after === null) return;
  }
}

function countRows(recount: Recount, batch: Batch, part: Buffer): void {
  if (batch.kind === 'export') return;
  const { delimiter, width } = layoutOf(batch);
  const records = scanPart(part, delimiter);
  for (let index = 0; index < records.count; index++) {
    countRow(recount, readRecord(part, records.at(index), delimiter).slice(width));
  }
}

function countRow(recount: Recount, added: readonly string[]): void {
  const status = (added[cellOf.status] ?? '') as OutcomeStatus;
  const credits = Number(added[cellOf.credits] ?? 0);
  recount.outcomes[status] = (recount.outcomes[status] ?? 0) + 1;
  recount.credits += credits;
  if (status === 'suppressed' && credits > 0) recount.withheld += 1;
}

function hasSameOutcomes(batch: Batch, { outcomes, withheld }: Recount): boolean {
  const count = (status: OutcomeStatus) => outcomes[status] ?? 0;
  const others =
    count('no_match') === batch.noMatch &&
    count('ambiguous') === batch.ambiguous &&
    count('invalid') === batch.invalid &&
    count('duplicate') === batch.duplicate &&
    count('error') === batch.errorRows &&
    // A list that was cancelled with a damaged upload has no lines for them.
    (count('not_processed') === batch.notProcessed || batch.chunksDone !== batch.chunksTotal);
  // Test rows cost nothing, so earlier and later opt-outs cannot be distinguished.
  // Nor can those of people who were owned.
  const owned = batch.matched - count('matched') - withheld;
  const isSameSum =
    count('matched') + count('suppressed') === batch.matched + batch.suppressed &&
    (!batch.live || (owned >= 0 && owned <= batch.owned));
  return others && isSameSum;
}
