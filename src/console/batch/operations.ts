/** The operations that can be asked about the rows of a list. */
import { operations } from '../priced-operations.ts';

export type Operation = (typeof operations)[number];

/** Columns that help to read a row and to judge its match. */
export const contextKinds = ['person_name', 'company_name', 'country', 'city'] as const;

export function findOperation(name: string): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}

/** The subject of a row of a list for this operation. */
export function subjectOf(operation: string): 'person' | 'company' {
  return operation.startsWith('companies.') ? 'company' : 'person';
}

export function operationLabel(name: string): string {
  return findOperation(name)?.label ?? name;
}
