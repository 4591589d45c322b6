import { afterEach, expect, test, vi } from 'vitest';
import { printResult, say } from './output.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const printedOn = (stream: NodeJS.WriteStream) => {
  const write = vi.spyOn(stream, 'write').mockReturnValue(true);
  return () => write.mock.calls.join('');
};

/** Sets the title of a terminal, clears it, and turns the direction of what follows. */
const name = 'leads\x1b]0;gone\x07\x1b[2J\u202evsc\x9b1m';

test('a terminal obeys nothing in the name of a list or the header of a file', () => {
  const shown = 'leads\ufffd]0;gone\ufffd\ufffd[2J\ufffdvsc\ufffd1m';
  const [out, err] = [printedOn(process.stdout), printedOn(process.stderr)];
  printResult(false, null, ['id\tname', name]);
  say(name);
  expect(out()).toBe(`id\tname\n${shown}\n`);
  expect(err()).toBe(`${shown}\n`);
});

test('a program gets every character, as JSON', () => {
  const out = printedOn(process.stdout);
  printResult(true, { name }, []);
  expect(JSON.parse(out())).toEqual({ name });
});
