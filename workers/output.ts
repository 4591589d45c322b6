/** Output of commands: one JSON value or lines for a person on stdout, everything else on stderr. */

import type { Calls } from '../src/client/api-types.ts';
import { harmless, harmlessJson } from '../src/core/lib/harmless-text.ts';

/**
 * Returns JSON that means the same as `JSON.stringify`, and that a terminal shows as well. `indent` is the number of spaces of a
 * level; absent, it is one line.
 */
export function toJson(value: unknown, indent?: number): string {
  return harmlessJson(JSON.stringify(value, null, indent));
}

/** Prints the result of a command: `value` with `--json`, otherwise the lines. */
export function printResult(json: boolean, value: unknown, lines: string[]): void {
  process.stdout.write(`${json ? toJson(value) : lines.map(harmless).join('\n')}\n`);
}

/** Prints a record as JSON for a person and for a program. */
export function printRecord(value: unknown): void {
  process.stdout.write(`${toJson(value, 2)}\n`);
}

/** A number and its noun: `1 credit`, `2 credits`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `12`, `about 1200` or `fewer than 10`. */
export function sayTotal({
  total,
  total_is,
}: Pick<Calls['GET /v1/personsearch/preview']['response'], 'total' | 'total_is'>): string {
  return `${{ exact: '', about: 'about ', below: 'fewer than ' }[total_is]}${total}`;
}

/** Prints the values of a filter that no lookup knows, one a line. */
export function sayUnknownValues(values: readonly { parameter: string; value: string }[]): void {
  for (const { parameter, value } of values) {
    say(`${parameter}: no lookup knows "${value}"; check its spelling`);
  }
}

/**
 * A line of progress: `title … detail`, updated in place in a terminal. Elsewhere only the title is printed, once.
 */
export function openProgressLine(title: string): { update(detail: string): void; end(): void } {
  const isAnimated = process.stderr.isTTY === true;
  process.stderr.write(isAnimated ? `${title} …` : `${title} ...\n`);
  return {
    update(detail) {
      if (isAnimated) process.stderr.write(`\r\x1b[K${title} … ${detail}`);
    },
    end() {
      if (isAnimated) process.stderr.write(`\r\x1b[K${title}\n`);
    },
  };
}

/** Prints a line of progress. */
export function say(line: string): void {
  process.stderr.write(`${harmless(line)}\n`);
}
