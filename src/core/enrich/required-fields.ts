/** Fields without which a record does not match: `required=` of calls and lists. */
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

/**
 * Checks the fields that a list asks for; null for none. Throws `AppError` 400 `invalid_parameter` for an unknown name, and
 * for one that records leave empty here.
 */
export function checkListFields(
  setting: MobileSetting,
  operation: OperationName,
  { fields, required }: { fields: readonly string[] | null; required: readonly string[] | null },
): void {
  outputColumns(operation, fields);
  requiredColumns(operation, required);
  checkMobileField(setting, operation, fields);
  checkMobileField(setting, operation, required, 'required');
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
