/** `fields=` of a single call: returns only the chosen fields of the record. */
import { invalidParameter } from '../lib/errors.ts';
import { type OperationName, operations, personSearch } from '../operations.ts';
import { type OutputColumn, outputColumns } from './match-data.ts';

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

/** Returns the JSON text of a person of a search with the chosen fields; null for all of them. */
export function projectPerson(json: string, fields: readonly string[] | null): string {
  if (fields === null) return json;
  return JSON.stringify(pick(JSON.parse(json), 'person', outputColumns(personSearch.name, fields)));
}

function chooseFields(operation: OperationName, data: unknown, fields: readonly string[]): object {
  const columns = outputColumns(operation, fields);
  if (operation === 'people.enrich-with-company') {
    const { person, company } = data as { person: JsonRecord; company: JsonRecord | null };
    return {
      person: pick(person, 'person', columns),
      company: company === null ? null : pick(company, 'company', columns),
    };
  }
  return pick(data as JsonRecord, operations[operation].subject, columns);
}

type JsonRecord = Record<string, unknown>;

/** Values inside objects are members named by their path: `{"company.name": "Acme"}`. */
function pick(record: JsonRecord, prefix: string, columns: readonly OutputColumn[]): object {
  const own = columns.filter(({ header }) => header.startsWith(`${prefix}.`));
  return Object.fromEntries(
    own.map((column) => {
      const name = column.header.slice(prefix.length + 1);
      const member = column.record === null ? column.member : undefined;
      return [
        name,
        member === undefined ? record[name] : member.readFrom((object) => record[object] ?? null),
      ];
    }),
  );
}
