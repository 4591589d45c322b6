/** What a command says: one JSON value or lines for a person on stdout, everything else on stderr. */

/** Prints the result of a command: `value` with `--json`, otherwise the lines. */
export function printResult(json: boolean, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
}

/** Says something about the way there. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
