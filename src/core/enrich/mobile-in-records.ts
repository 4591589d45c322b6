/**
 * `MOBILE_IN_RECORDS`: the specification has a person's mobile number in every record, at the price of the record, and
 * in a call of its own at a higher price. An operator who sells the number by that call alone turns the setting off:
 * `mobile` is then empty in all records, also those of searches and exports.
 */
import type { Config } from '../config.ts';
import { personFields } from '../graph/fields.ts';
import { CELL_SEPARATOR } from '../graph/record.ts';
import { invalidParameter } from '../lib/errors.ts';
import { type PricedOperation, personSearch } from '../operations.ts';
import type { RecordBytes } from './match-data.ts';

/** The part of the configuration that decides it. */
export type MobileSetting = Pick<Config, 'mobileInRecords'>;

const SELLS_MOBILE: PricedOperation = 'people.mobile';
const place = personFields.findIndex(({ name }) => name === 'mobile');

/** Returns true when the records of an operation leave `mobile` empty. */
export function hidesMobile({ mobileInRecords }: MobileSetting, operation: PricedOperation) {
  return !mobileInRecords && operation !== SELLS_MOBILE;
}

/** Returns the stored record of a person with an empty `mobile`. */
export function withoutMobile(record: string): string {
  return record
    .split(CELL_SEPARATOR)
    .map((cell, index) => (index === place ? '' : cell))
    .join(CELL_SEPARATOR);
}

/** As `withoutMobile`, for a record inside a larger buffer: the copy has a buffer of its own. */
export function bytesWithoutMobile({ bytes, from, to }: RecordBytes): RecordBytes {
  const copy = Buffer.from(withoutMobile(bytes.toString('utf8', from, to)));
  return { bytes: copy, from: 0, to: copy.length };
}

/**
 * Checks the names of chosen or required fields (null: none). Throws `AppError` 400 `invalid_parameter` when `mobile`
 * is among them and would be empty: an empty column is not worth a credit.
 */
export function checkMobileField(
  setting: MobileSetting,
  operation: PricedOperation,
  names: readonly string[] | null,
  parameter = 'fields',
): void {
  if (!hidesMobile(setting, operation) || !isPersonal(operation)) return;
  const named = names?.find((name) => name === 'mobile' || name === 'person.mobile');
  if (named === undefined) return;
  const message = `\`${named}\` is not part of this service’s records. GET /v1/people/mobile, or a list of people.mobile, returns it`;
  throw invalidParameter(parameter, message);
}

/** Other operations have no field `mobile`, which is another error. */
function isPersonal(operation: PricedOperation): boolean {
  return operation === personSearch.name || operation.startsWith('people.');
}
