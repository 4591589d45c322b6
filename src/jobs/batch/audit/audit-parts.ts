/**
 * The deep half of the audit: reads every stored part of every ended list again and holds what stands in its
 * rows against the counts and charges of the batch.
 */
import type { AuditCheck } from '../../../core/credits/audit.ts';
import type { OutcomeStatus } from '../../../core/enrich/outcomes.ts';
import { matchColumns } from '../chunk/render-part.ts';
import { readRecord } from '../csv/cells.ts';
import { scanRecords } from '../csv/record-scanner.ts';
import { type Batch, findBatch, listFinishedParts } from '../queries.ts';
import { layoutOf } from '../result/result-layout.ts';
import { isObjectMissing, type PartsContext, readPart } from '../shown/read-part.ts';
import { listKeptResults } from './queries.ts';

const BATCHES_AT_ONCE = 1_000;

const cellOf = {
  status: matchColumns.indexOf('match.status'),
  credits: matchColumns.indexOf('match.credits'),
};

/** What the stored rows of a list say. */
interface Recount {
  outcomes: Partial<Record<OutcomeStatus, number>>;
  credits: number;
  /** Rows of people who opted out after they were paid for. */
  withheld: number;
  missing: number;
}

/** Recounts all stored results, one part in memory at a time. */
export async function auditParts(context: PartsContext): Promise<AuditCheck[]> {
  const broken = { missing: 0, outcomes: 0, credits: 0 };
  for await (const batch of keptResults(context)) {
    const recount = await recountParts(context, batch);
    broken.missing += recount.missing;
    // People leave an export without a trace: what is left of it proves nothing about the rest.
    if (batch.kind === 'export' || recount.missing > 0) continue;
    if (!hasSameOutcomes(batch, recount)) broken.outcomes += 1;
    if (recount.credits !== batch.creditsCharged) broken.credits += 1;
  }
  return [
    { name: 'every recorded part is stored', violations: broken.missing },
    { name: 'the stored rows of every list have its outcomes', violations: broken.outcomes },
    { name: 'the stored rows of every list cost what it was charged', violations: broken.credits },
  ];
}

async function* keptResults({ sql }: PartsContext): AsyncGenerator<Batch> {
  let after: string | null = null;
  while (true) {
    const ids: string[] = await listKeptResults(sql, after, BATCHES_AT_ONCE);
    for (const id of ids) {
      const batch = await findBatch(sql, id);
      if (batch !== undefined) yield batch;
    }
    after = ids.at(-1) ?? null;
    if (after === null) return;
  }
}

async function recountParts(context: PartsContext, batch: Batch): Promise<Recount> {
  const { delimiter, width } = layoutOf(batch);
  const recount: Recount = { outcomes: {}, credits: 0, withheld: 0, missing: 0 };
  for (const part of await listFinishedParts(context.sql, batch.id)) {
    const bytes = await readPart(context, part).catch((error: unknown) => {
      if (!isObjectMissing(error)) throw error;
      return null;
    });
    if (bytes === null) recount.missing += 1;
    if (bytes === null || batch.kind === 'export') continue;
    const records = scanRecords(bytes, { delimiter });
    for (let index = 0; index < records.count; index++) {
      const added = readRecord(bytes, records.at(index), delimiter).slice(width);
      countRow(recount, added);
    }
  }
  return recount;
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
    count('not_processed') === batch.notProcessed;
  // Test rows cost nothing, so who opted out later cannot be told from who had before.
  const isSameSum =
    count('matched') + count('suppressed') === batch.matched + batch.suppressed &&
    (!batch.live || count('matched') + withheld === batch.matched);
  return others && isSameSum;
}
