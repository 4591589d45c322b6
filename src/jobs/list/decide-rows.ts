/** Decisions of a caller about ambiguous rows: a rerun of these rows, each with the record that it means. */
import { conflict, type ErrorDetail, invalidParameters } from '../../core/lib/errors.ts';
import type { ListBatch } from '../batch/batch.ts';
import type { MergedRow } from '../result/merge-reruns.ts';
import { isDecidable } from './ambiguous-rows.ts';
import type { RowChoice } from './rerun-list.ts';

/** The record that an ambiguous row means, or null for none of its candidates. */
export interface RowDecision {
  row: number;
  id: number | null;
  /** Its line in a file, or its number in a list: a file has a hundred thousand, so its place is named only in messages. */
  at: number;
}

/** Names the place of a decision in the request, for messages. */
export type PlaceOf = (at: number) => Pick<ErrorDetail, 'line'> & { field: string };

const ERRORS_MAX = 20;

/**
 * The choice of the rows that are decided. Throws `AppError` 400 for a row that is decided twice. `check` throws 409
 * `not_decidable` when a row is not ambiguous, or does not have the candidate.
 */
export function rowsDecided(
  batch: ListBatch,
  decisions: readonly RowDecision[],
  { hold, placeOf }: { hold: boolean; placeOf: PlaceOf },
): RowChoice {
  const open = new Map<number, RowDecision>();
  for (const decision of decisions) {
    if (open.has(decision.row)) {
      const message = `row ${decision.row} is decided twice. Send one decision for each row`;
      throw invalidParameters([{ ...placeOf(decision.at), message }]);
    }
    open.set(decision.row, decision);
  }
  const records = new Map<number, number>();
  const errors: ErrorDetail[] = [];
  const refuse = ({ at }: RowDecision, message: string) => errors.push({ ...placeOf(at), message });
  return {
    isChosen(row) {
      const decision = open.get(row.row);
      if (decision === undefined) return false;
      open.delete(row.row);
      const problem = problemOf(row, decision);
      if (problem === null) records.set(row.row, decision.id ?? 0);
      else refuse(decision, problem);
      return problem === null;
    },
    recordsOf: (rows) => rows.map((row) => records.get(row) ?? 0),
    check() {
      for (const decision of open.values()) {
        refuse(decision, `the list has no row ${decision.row}`);
      }
      if (errors.length === 0) return;
      const shown = errors.slice(0, ERRORS_MAX);
      const more = errors.length > shown.length ? ` And ${errors.length - shown.length} more.` : '';
      const told = shown.map(({ message }) => message).join('; ');
      throw conflict('not_decidable', `Nothing was decided: ${told}.${more}`, {
        errors: shown,
        extensions: { batch_id: batch.id },
      });
    },
    suffix: 'decided',
    hold,
  };
}

/** Why a row cannot be decided so; null when it can. */
function problemOf(row: MergedRow, { id }: RowDecision): string | null {
  if (!isDecidable(row)) {
    const state = row.status === 'ambiguous' ? 'has no candidates' : `is already ${row.status}`;
    return `row ${row.row} ${state}`;
  }
  if (id === null || row.candidates.some((candidate) => candidate.id === id)) return null;
  return `${id} is not a candidate of row ${row.row}`;
}
