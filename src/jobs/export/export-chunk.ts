/**
 * Processes an export's chunk: reads the people of its ids as they are now. People who were deleted, opted out
 * or entered the account's do-not-contact list since the ids were written are not in the file and cost nothing.
 */

import type { Sql } from '../../core/db/client.ts';
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import { needsOnlyBrief, outputColumns } from '../../core/enrich/match-data.ts';
import { hidesMobile } from '../../core/enrich/mobile-in-records.ts';
import { type PeopleReader, postgresPeople } from '../../core/enrich/people-reader.ts';
import { readPeople } from '../../core/enrich/read-people.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { must } from '../../core/lib/assert.ts';
import { prepareFilter } from '../../core/search/prepare.ts';
import type { PreparedFilter } from '../../core/search/prepared-filter.ts';
import { readRange } from '../../core/storage/object-sum.ts';
import type { ExportBatch } from '../batch/batch.ts';
import { emptyReport } from '../batch/report.ts';
import type { ChunkPhases } from '../chunk/chunk-metrics.ts';
import type { ChunkWork } from '../chunk/chunk-work.ts';
import type { ClaimedChunk } from '../chunk/claim-chunk.sql.ts';
import { forcedOutcomes, rowsOfPart } from '../chunk/next-part.ts';
import { readFromCopy } from '../chunk/read-from-copy.ts';
import { storeCall } from '../chunk/store-call.ts';
import type { JobContext } from '../queue/job-context.ts';
import { selectDelivered, selectMatchingIds } from './matching-ids.sql.ts';
import { renderPeople } from './render-people.ts';

type ExportContext = Pick<JobContext, 'sql' | 'testSql' | 'store' | 'config' | 'localCopy'> &
  Pick<ChunkPhases, 'endPhase'>;

/** Reads the people of a chunk, from the local copy of the graph where it can. */
export async function readExportChunk(
  context: ExportContext,
  batch: ExportBatch,
  chunk: ClaimedChunk,
): Promise<ChunkWork> {
  const columns = outputColumns(batch.operation, batch.fields);
  const graphSql = graphOf(context, batch.live);
  const brief = needsOnlyBrief(batch.operation, columns);
  const read = (people: PeopleReader) => outcomesOf(context, batch, chunk, { people, brief });
  const { outcomes, graph, release } = await readFromCopy(context, batch, chunk, async (copy) => ({
    outcomes: await read(copy?.people ?? postgresPeople(graphSql)),
    graph: copy?.state ?? null,
    release: () => copy?.release(),
  }));
  return {
    outcomes,
    graph,
    render(paid) {
      const { filled, ...rendered } = renderPeople(paid, columns);
      // The part copied the cells.
      release();
      return { ...rendered, report: { ...emptyReport(), filled } };
    },
    lines: (paid) => paid.filter(({ match }) => match !== null),
  };
}

async function outcomesOf(
  context: ExportContext,
  batch: ExportBatch,
  chunk: ClaimedChunk,
  { people, brief }: { people: PeopleReader; brief: boolean },
): Promise<Outcome[]> {
  const forced = forcedOutcomes(batch, chunk);
  if (forced !== null) return forced;
  const key = must(batch.canonicalKey, 'ids of a split export');
  const range = { from: chunk.byteFrom, to: chunk.byteTo };
  const bytes = await storeCall(readRange(context.store, key, range, chunk.crc32));
  const lines = bytes.toString('latin1').split('\n');
  const ids = lines.slice(chunk.rowsDone, chunk.rowsDone + rowsOfPart(chunk)).map(Number);
  const graph = graphOf(context, batch.live);
  context.endPhase('read');
  const outcomes = await readPeople(people, ids, {
    brief,
    hidesMobile: hidesMobile(context.config, batch.operation),
  });
  context.endPhase('fetch');
  const allPeople = await prepareFilter(graph, { conditions: [] }, batch);
  if (allPeople.hasDoNotContact) await excludeDoNotContact(graph, allPeople, outcomes);
  const { onlyNew, scheduleId } = batch;
  if (onlyNew && scheduleId !== null) await excludeDelivered(graph, scheduleId, outcomes);
  context.endPhase('compare');
  return outcomes;
}

/**
 * Excludes people whose record an import has, since the ids were written, joined with that of a person whom the schedule
 * delivered.
 */
async function excludeDelivered(
  graph: Sql,
  scheduleId: string,
  outcomes: Outcome[],
): Promise<void> {
  const delivered = new Set(await selectDelivered(graph, scheduleId, matchedIds(outcomes)));
  exclude(outcomes, (id) => delivered.has(id), miss('no_match', '', 'delivered'));
}

/** Excludes people whom the account put on its do-not-contact list since the ids were written. */
async function excludeDoNotContact(
  graph: Sql,
  allPeople: PreparedFilter,
  outcomes: Outcome[],
): Promise<void> {
  const meant = new Set(await selectMatchingIds(graph, allPeople, matchedIds(outcomes)));
  exclude(outcomes, (id) => !meant.has(id), miss('suppressed', '', 'do_not_contact'));
}

function matchedIds(outcomes: readonly Outcome[]): number[] {
  return outcomes.flatMap(({ status, id }) => (status === 'matched' ? [id] : []));
}

/** Gives the matches of these people another outcome. */
function exclude(outcomes: Outcome[], isExcluded: (id: number) => boolean, instead: Outcome): void {
  for (const [index, { status, id }] of outcomes.entries()) {
    if (status === 'matched' && isExcluded(id)) outcomes[index] = { ...instead };
  }
}
