/** The operations that can be asked about the rows of a list. */
import { operations } from '../priced-operations.ts';

export type Operation = (typeof operations)[number];

/** Columns that help to read a row, and to judge what it matches. */
export const contextKinds = ['country', 'person_name', 'company_name'] as const;

export function findOperation(name: string): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}

export function operationLabel(name: string): string {
  return findOperation(name)?.label ?? name;
}
