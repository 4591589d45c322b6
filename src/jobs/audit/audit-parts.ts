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
import type { RecordedPart } from './audit.sql.ts';
import type { AuditCheck } from './audit.ts';
import { checkBatches } from './check-batches.ts';
import { type CheckedObjects, checkObjects } from './check-objects.ts';

const BATCHES_REPORTED = 1_000;
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
  /**
   * Number of stored objects that were read; the first ones that are missing; the first ones that are damaged or cannot be read.
   */
  objects: { checked: number; missing: BrokenObject[]; damaged: BrokenObject[] };
}

/**
 * Reads all stored objects and recounts all stored results. A list that ended longer ago than files are kept has no missing
 * objects: housekeeping deletes its files.
 */
export async function auditParts(
  context: PartsContext & { config: { filesKeepDays: number } },
  onProgress: (line: string) => void = () => {},
): Promise<PartsAudit> {
  const broken = { missing: 0, damaged: 0, outcomes: 0, credits: 0 };
  const objects: PartsAudit['objects'] = { checked: 0, missing: [], damaged: [] };
  const examineOne = (batch: Batch, parts?: readonly RecordedPart[]) =>
    examine(context, batch, parts);
  let batches = 0;
  for await (const [listed, first] of checkBatches(context, examineOne)) {
    if (++batches % BATCHES_REPORTED === 0) onProgress(`batches read: ${batches}`);
    objects.checked += first.checked;
    if (isRight(first)) continue;
    // Callers delete lists and decide rows, also of one that was read meanwhile.
    const batch = await findBatch(context.sql, listed.id);
    if (batch === undefined || batch.filesDeletedAt !== null) continue;
    const found = await examineOne(batch);
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
    if (!found.hasSameOutcomes) broken.outcomes += 1;
    if (!found.hasSameCredits) broken.credits += 1;
  }
  const checks = [
    { name: 'every recorded object is stored', violations: broken.missing },
    { name: 'every stored object is as it was written', violations: broken.damaged },
    { name: 'the stored rows of every list have its outcomes', violations: broken.outcomes },
    { name: 'the stored rows of every list cost what it was charged', violations: broken.credits },
  ];
  return { checks, objects };
}

interface Examined extends Pick<CheckedObjects, 'checked' | 'gone' | 'missing' | 'damaged'> {
  /** True also when the rows cannot be counted. */
  hasSameOutcomes: boolean;
  hasSameCredits: boolean;
}

async function examine(
  context: PartsContext,
  batch: Batch,
  parts?: readonly RecordedPart[],
): Promise<Examined> {
  const recount: Recount = { outcomes: {}, credits: 0, withheld: 0 };
  const visit = (part: Buffer) => countRows(recount, batch, part);
  const known = parts === undefined ? {} : { parts };
  const { unreadable, ...found } = await checkObjects(context, batch, { ...known, visit });
  const damaged = [...found.damaged, ...unreadable.map(({ key }) => key)];
  const unread = found.gone + found.missing.length + damaged.length;
  const hasEnded = batch.state === 'completed' || batch.state === 'cancelled';
  // Redaction removes people from an export without a trace, so its rows cannot be recounted.
  const isUncounted = batch.kind === 'export' || unread > 0 || !hasEnded;
  return {
    ...found,
    damaged,
    hasSameOutcomes: isUncounted || hasSameOutcomes(batch, recount),
    hasSameCredits: isUncounted || recount.credits === batch.creditsCharged,
  };
}

function isRight({ gone, missing, damaged, ...rows }: Examined): boolean {
  const unread = gone + missing.length + damaged.length;
  return unread === 0 && rows.hasSameOutcomes && rows.hasSameCredits;
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
