/** The numbers that companies, people, imports and splits have in the graph, as callers write them. */
import { z } from 'zod';
import { notFound } from '../../core/lib/errors.ts';

const NUMBER = /^[1-9]\d{0,14}$/;

/** The cursor of a page of things with such numbers. */
export const numberCursor = z
  .string()
  .regex(NUMBER, 'must be `next_cursor` of another page')
  .transform(Number);

/** Returns the number of a path. Throws `AppError` 404 for a text that is none: nothing has it. */
export function parseNumber(noun: string, text: string): number {
  if (NUMBER.test(text)) return Number(text);
  throw notFound(`${noun} ${text}`);
}
