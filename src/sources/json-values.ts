/** Reads values of parsed JSON whose form is not certain. */
import { textOf } from './values.ts';

export type JsonObject = Record<string, unknown>;

/** The value as an object; an empty one when it is none. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** The objects of a list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** Trimmed text, of a text or a number; undefined when empty or anything else. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? textOf(String(value)) : undefined;
}
