/** How an operation is documented beside what its route says. */
import type { z } from 'zod';

export interface DocumentedAnswer {
  status: number;
  description: string;
  /** Of a JSON answer. */
  schema?: z.ZodType;
  /** Of other answers. */
  types?: readonly string[];
}

export interface DocumentedOperation {
  answers: readonly DocumentedAnswer[];
  /** Statuses of its own errors, beside those that every operation may have. */
  errors: readonly number[];
  /** Query parameters, where the handler reads them itself. */
  query?: z.ZodType;
  /** What it takes by type, where that is more than one JSON object; null for bytes. */
  bodies?: Readonly<Record<string, z.ZodType | null>>;
}

/** An operation on an object of the caller's; anybody else's is 404. */
export function ownObject(answer: DocumentedAnswer, ...errors: number[]): DocumentedOperation {
  return { answers: [answer], errors: [404, ...errors] };
}
