import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { AppError } from '../src/core/lib/errors.ts';
import { explainError } from './explain-error.ts';

const absent = path.join(tmpdir(), 'no-such-folder', 'absent.csv');

test.each([
  [absent, 'no such file or directory', () => readFile(absent)],
  [absent, 'no such file or directory', () => writeFile(absent, '')],
  [tmpdir(), 'illegal operation on a directory', () => readFile(tmpdir())],
])('an error of the file %s is its path and one reason: %s', async (file, reason, act) => {
  const error = await act().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { message, exitCode } = explainError(error);
  expect(exitCode).toBe(1);
  // Node gives no path for a read of an open folder.
  expect([`${file}: ${reason}.`, reason]).toContain(message);
});

test('a response that is cut off is told as such, not as a bug', async () => {
  const server = createServer((_, response) => {
    response
      .writeHead(200, { 'Content-Length': 100 })
      .write('half of it', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const read = async () => (await fetch(`http://127.0.0.1:${port}`)).text();
  const error: unknown = await read().catch((thrown: unknown) => thrown);
  server.close();
  const message = 'The response was cut off before its end. Repeat the command.';
  expect(explainError(error)).toEqual({ message, exitCode: 1 });
});

test('a full disk of the database is told as one', () => {
  const full = Object.assign(new Error('could not extend file: No space left on device'), {
    code: '53100',
  });
  const { message } = explainError(full);
  expect(message).toMatch(/^the disk of the database is full: .+ Free some space/);
  expect(message).not.toContain('DATABASE_URL');
});

test('a database that refuses the connection is told with what to correct, not as a bug', () => {
  for (const code of ['28P01', '28000', '3D000']) {
    const { message } = explainError(Object.assign(new Error('it is not so'), { code }));
    expect(message).toBe(
      'the database refuses the connection: it is not so. Correct the user, the password and the name of the database in DATABASE_URL.',
    );
  }
});

test('wrong usage exits with 2, help with 0, a failure with 1, and a refusal has the code of the documents', () => {
  const usage = new AppError({ code: 'usage', status: 400, message: 'Set ENRICH_API_KEY.' });
  expect(explainError(usage)).toEqual({ message: 'Set ENRICH_API_KEY.', exitCode: 2 });
  const help = new CommanderError(0, 'commander.help', 'help');
  expect(explainError(help)).toEqual({ message: null, exitCode: 0 });
  expect(explainError(new CommanderError(1, 'commander.unknown', 'x')).exitCode).toBe(2);
  const refusal = new AppError({ code: 'clock_wrong', status: 409, message: 'Set the clock.' });
  expect(explainError(refusal)).toEqual({ message: 'Set the clock. (clock_wrong)', exitCode: 1 });
  const other = new AppError({ code: 'not_found', status: 404, message: 'Not found.' });
  expect(explainError(other)).toEqual({ message: 'Not found.', exitCode: 1 });
});
