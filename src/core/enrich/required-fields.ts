/** Fields without which a record does not match: `required=` of calls and lists. */
import { invalidParameter } from '../lib/errors.ts';
import { type OperationName, operations } from '../operations.ts';
import { type MatchData, type OutputColumn, outputColumns, recordCellAt } from './match-data.ts';
import { checkMobileField, type MobileSetting } from './mobile-in-records.ts';

/**
 * Returns the columns that a match must have to count: fields of the record that the operation finds, and values inside
 * them, named as in `fields`. Throws `AppError` 400 `invalid_parameter` (field `required`) for an unknown name.
 */
export function requiredColumns(
  operation: OperationName,
  names: readonly string[] | null,
): readonly OutputColumn[] {
  if (names === null) return [];
  const { subject } = operations[operation];
  const whole = subject === 'company' ? 'companies.enrich' : 'people.enrich';
  const described = operation === 'people.enrich-with-company' ? operation : whole;
  return outputColumns(described, names, 'required');
}

/** Beginning of the columns that have what a match is charged for, by operation; a record is worth its price in any column. */
const sold: Partial<Record<OperationName, string>> = {
  'people.mobile': 'person.mobile',
  'people.email-verify': 'email.status',
  'companies.logo': 'company.logo_url',
  'companies.financials': 'financials.',
};

/**
 * Checks the fields that a list asks for; null for none. Throws `AppError` 400 `invalid_parameter` for an unknown name, for
 * one that records leave empty here, and for fields that leave out what each match would be charged for.
 */
export function checkListFields(
  setting: MobileSetting,
  operation: OperationName,
  { fields, required }: { fields: readonly string[] | null; required: readonly string[] | null },
): void {
  const columns = outputColumns(operation, fields);
  requiredColumns(operation, required);
  checkMobileField(setting, operation, fields);
  checkMobileField(setting, operation, required, 'required');
  const paid = sold[operation];
  if (paid === undefined || columns.some(({ header }) => header.startsWith(paid))) return;
  const shown = paid.endsWith('.') ? `one of \`${paid}*\`` : `\`${paid}\``;
  const message = `must include ${shown}: it is what a match of ${operation} is charged for`;
  throw invalidParameter('fields', message);
}

/** Returns true when none of these columns is empty. */
export function hasColumns(match: MatchData, columns: readonly OutputColumn[]): boolean {
  return columns.every((column) => {
    const cell =
      column.record === null
        ? column.read(match)
        : recordCellAt(match[column.record], column.index);
    return cell !== '';
  });
}
