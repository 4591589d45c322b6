/** Checks that fail only because of a bug; an expected failure is an `AppError` instead. */

/** Throws `Error(message)` when the condition does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Returns the value; throws `Error` when it is null or undefined. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`expected ${what}, found none`);
  return value;
}
