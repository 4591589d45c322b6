/** The report of a batch in addition to its counts: kept per part, added up at the end. */

import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { type RecordTable, recordFlag } from '../../formats/csv/record-table.ts';
import type { Repair } from '../../mapping/read-rows.ts';

/** Maximum line numbers per reason in a report; the result itself has all of them. */
const LINES_MAX = 20;

/** The number of rows with one reason, and the first physical line numbers of them in the file. */
export interface ReasonReport {
  rows: number;
  lines: number[];
}

export interface PartReport {
  /** Unusable rows by reason: outcomes `invalid` and `error`. */
  unusable: Record<string, ReasonReport>;
  /** Repaired values by kind of damage. */
  repaired: Record<string, number>;
  /** Rows that were not UTF-8 and were read as Windows-1252. */
  decodedRows: number;
  /** Rows narrower than the widest. */
  paddedRows: number;
  /** Matched rows with a non-empty cell, by added column. */
  filled: number[];
  /** Matched rows by agreement with the list's own name or company. */
  agrees: Record<string, number>;
  /** Matched rows by the identifier that matched; absent from parts of earlier versions. */
  matchedBy?: Record<string, number>;
}

export function emptyReport(): PartReport {
  return {
    unusable: {},
    repaired: {},
    decodedRows: 0,
    paddedRows: 0,
    filled: [],
    agrees: {},
    matchedBy: {},
  };
}

/** Reports the rows `from` to `to`, which have these `outcomes`. */
export function reportPart(
  records: RecordTable,
  from: number,
  outcomes: readonly Outcome[],
  layout: { width: number },
  found: { filled: number[]; repairs: readonly Repair[] },
): PartReport {
  const report: PartReport = { ...emptyReport(), filled: found.filled };
  for (const { index, kind } of found.repairs) {
    if (index < from || index >= from + outcomes.length) continue;
    report.repaired[kind] = (report.repaired[kind] ?? 0) + 1;
  }
  const matchedBy: Record<string, number> = {};
  report.matchedBy = matchedBy;
  let at = from - 1;
  for (const outcome of outcomes) {
    at++;
    if ((records.fields[at] ?? 0) < layout.width) report.paddedRows++;
    if ((records.flags[at] ?? 0) & recordFlag.invalidUtf8) report.decodedRows++;
    if (outcome.agrees !== '' && outcome.status !== 'duplicate') {
      report.agrees[outcome.agrees] = (report.agrees[outcome.agrees] ?? 0) + 1;
    }
    if (outcome.status === 'matched') {
      matchedBy[outcome.by] = (matchedBy[outcome.by] ?? 0) + 1;
    }
    if (outcome.status !== 'invalid' && outcome.status !== 'error') continue;
    report.unusable[outcome.reason] ??= { rows: 0, lines: [] };
    addReason(report.unusable[outcome.reason] as ReasonReport, 1, [records.line[at] ?? 0]);
  }
  return report;
}

function addReason(reason: ReasonReport, rows: number, lines: number[]): void {
  reason.rows += rows;
  reason.lines.push(...lines.slice(0, LINES_MAX - reason.lines.length));
}

/** Adds up the reports of a batch's parts, in file order. */
export function addReports(parts: readonly PartReport[]): PartReport {
  const sum = emptyReport();
  const addCounts = (to: Record<string, number>, from: Record<string, number>) => {
    for (const [name, count] of Object.entries(from)) to[name] = (to[name] ?? 0) + count;
  };
  for (const part of parts) {
    for (const [name, { rows, lines }] of Object.entries(part.unusable)) {
      sum.unusable[name] ??= { rows: 0, lines: [] };
      addReason(sum.unusable[name] as ReasonReport, rows, lines);
    }
    addCounts(sum.repaired, part.repaired);
    addCounts(sum.agrees, part.agrees);
    addCounts(sum.matchedBy ?? {}, part.matchedBy ?? {});
    sum.decodedRows += part.decodedRows;
    sum.paddedRows += part.paddedRows;
    for (const [column, count] of part.filled.entries()) {
      sum.filled[column] = (sum.filled[column] ?? 0) + count;
    }
  }
  return sum;
}
