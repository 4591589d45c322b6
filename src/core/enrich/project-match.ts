/** `fields=` of a single call: returns only the chosen fields of the record. */
import { invalidParameter } from '../lib/errors.ts';
import { type OperationName, operations } from '../operations.ts';
import { outputColumns } from './match-data.ts';

/** Operations whose match is a record with fields to choose from. */
const projectable: ReadonlySet<OperationName> = new Set<OperationName>([
  'people.enrich',
  'people.enrich-with-company',
  'companies.enrich',
]);

/**
 * Throws `AppError` 400 `invalid_parameter` when a field is unknown to the operation, or the operation's match
 * has no fields to choose from.
 */
export function checkProjection(operation: OperationName, fields: readonly string[] | null): void {
  if (fields === null) return;
  if (projectable.has(operation)) {
    outputColumns(operation, fields);
    return;
  }
  const message = `must be left out: ${operation} has no fields to choose from`;
  throw invalidParameter('fields', message);
}

/** Returns the JSON text of a match with the chosen fields; null for all of them. */
export function projectMatch(
  operation: OperationName,
  json: string,
  fields: readonly string[] | null,
): string {
  return fields === null ? json : JSON.stringify(chooseFields(operation, JSON.parse(json), fields));
}

function chooseFields(operation: OperationName, data: unknown, fields: readonly string[]): object {
  const chosen = new Set(outputColumns(operation, fields).map((column) => column.header));
  if (operation === 'people.enrich-with-company') {
    const { person, company } = data as { person: object; company: object | null };
    return {
      person: pick(person, 'person', chosen),
      company: company === null ? null : pick(company, 'company', chosen),
    };
  }
  return pick(data as object, operations[operation].subject, chosen);
}

function pick(record: object, prefix: string, chosen: ReadonlySet<string>): object {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => chosen.has(`${prefix}.${name}`)),
  );
}
