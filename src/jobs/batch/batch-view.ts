/** A batch as the API and the command line show it. */
import { outputColumns } from '../../core/enrich/answer.ts';
import type { Batch } from './queries.ts';
import type { PartReport } from './report.ts';

/** How a list is written, as it was found or told. */
export function viewDialect({ dialect }: Batch) {
  return {
    encoding: dialect.encoding,
    delimiter: dialect.delimiter,
    newline: dialect.newline,
    header: dialect.header,
    /** Guesses to look at in the preview: encoding, delimiter, header. */
    doubts: dialect.doubts,
  };
}

/** The JSON of a batch. */
export function viewBatch(batch: Batch, now: Date) {
  const processed =
    batch.matched +
    batch.noMatch +
    batch.ambiguous +
    batch.invalid +
    batch.suppressed +
    batch.duplicate +
    batch.errorRows +
    batch.notProcessed;
  const seconds =
    batch.startedAt === null
      ? 0
      : ((batch.finishedAt ?? now).getTime() - batch.startedAt.getTime()) / 1000;
  const rate = seconds > 0 ? processed / seconds : null;
  const left = batch.rowsTotal === null ? null : batch.rowsTotal - processed;
  const moving = batch.state === 'running' && rate !== null && rate > 0 && left !== null;
  return {
    id: batch.id,
    name: batch.name,
    live: batch.live,
    state: batch.state,
    reason: batch.reason,
    error: batch.error,
    operation: batch.operation,
    mapping: batch.mapping,
    dialect: viewDialect(batch),
    quote: batch.quote,
    rows: {
      total: batch.rowsTotal,
      processed,
      matched: batch.matched,
      no_match: batch.noMatch,
      ambiguous: batch.ambiguous,
      invalid: batch.invalid,
      suppressed: batch.suppressed,
      duplicate: batch.duplicate,
      error: batch.errorRows,
      not_processed: batch.notProcessed,
    },
    credits: {
      charged: batch.creditsCharged,
      reserved: batch.creditsReserved,
      max: batch.maxCredits,
    },
    rows_per_second: rate === null ? null : Math.round(rate),
    eta_seconds: moving ? Math.ceil(left / rate) : null,
    created_at: batch.createdAt.toISOString(),
    started_at: batch.startedAt?.toISOString() ?? null,
    finished_at: batch.finishedAt?.toISOString() ?? null,
    links: { self: `/v1/batches/${batch.id}`, results: `/v1/batches/${batch.id}/results` },
  };
}

export type BatchView = ReturnType<typeof viewBatch>;

/** The report of a batch as it is answered. */
export function viewReport(batch: Batch, sum: PartReport) {
  const columns = outputColumns(batch.operation, batch.fields);
  const share = (count: number) =>
    batch.matched === 0 ? 0 : Math.round((count / batch.matched) * 10_000) / 10_000;
  return {
    dialect: viewDialect(batch),
    mapping: batch.mapping,
    rows: batch.rowsTotal,
    blank_lines: batch.blankLines,
    padded_rows: sum.paddedRows,
    rows_read_as_windows_1252: sum.decodedRows,
    repaired: sum.repaired,
    unusable: sum.unusable,
    agrees: sum.agrees,
    fill_rate: Object.fromEntries(
      columns.map(({ header }, index) => [header, share(sum.filled[index] ?? 0)]),
    ),
  };
}
