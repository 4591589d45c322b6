/** An export as the API answers it, and the words for it. */
import type { Export } from '../../client/api-types.ts';
import type { Outcome, Progress } from '../batch/batch.ts';

export type ExportFile = Progress & Export;

/** Outcomes of a person of an export. */
export const exportWords: Partial<Record<Outcome, string>> = {
  matched: 'In the file',
  no_match: 'Deleted since',
  suppressed: 'Opted out since',
};

export const formats = [
  { value: 'csv-safe', label: 'CSV for spreadsheets' },
  { value: 'xlsx', label: 'Excel (.xlsx)' },
  { value: 'csv', label: 'CSV, unchanged' },
  { value: 'jsonl', label: 'JSON Lines' },
] as const;

export function formatLabel(format: string): string {
  return formats.find(({ value }) => value === format)?.label ?? format;
}
