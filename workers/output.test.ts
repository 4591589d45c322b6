import { afterEach, expect, test, vi } from 'vitest';
import { printRecord, printResult, say } from './output.ts';

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

test('a name with the end of a line makes no line of its own', () => {
  const out = printedOn(process.stdout);
  printResult(false, null, ['1  leads\n2  Completed', '3  rest\r\n']);
  expect(out()).toBe('1  leads\ufffd2  Completed\n3  rest\ufffd\ufffd\n');
});

test('a program gets every character, as JSON that no terminal obeys', () => {
  const out = printedOn(process.stdout);
  printResult(true, { name }, []);
  printRecord({ name, lines: 'a\nb\tc\u2028' });
  const [line = '', ...record] = out().split('\n');
  expect(JSON.parse(line)).toEqual({ name });
  expect(JSON.parse(record.join('\n'))).toEqual({ name, lines: 'a\nb\tc\u2028' });
  expect(out()).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
});
