import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, test, vi } from 'vitest';
import { createLog, describeError, logWarnings, toPlainLine } from './log.ts';

test('a line for a terminal has time, level, process, message and members, and no JSON', () => {
  const time = '2026-11-22T12:04:31.123Z';
  const line = { level: 40, time, process: 'api', pid: 77, msg: 'process ended, restarting it' };
  expect(toPlainLine(JSON.stringify(line))).toBe(
    '12:04:31 warn api: process ended, restarting it pid=77\n',
  );
});

const obeyed = 'no \u001b[2J\u009b2J\u202e\nfile';

test('a terminal obeys no text of a line, which makes no line of its own', () => {
  const line = { level: 40, time: '2026-11-22T12:04:31.123Z', process: 'api', msg: obeyed };
  expect(toPlainLine(JSON.stringify({ ...line, name: obeyed }))).toBe(
    '12:04:31 warn api: no \ufffd[2J\ufffd2J\ufffd\ufffdfile name=no \ufffd[2J\ufffd2J\ufffd\ufffdfile\n',
  );
});

test('a line of JSON has the characters that a terminal obeys escaped', () => {
  const written: Uint8Array[] = [];
  const write = vi.spyOn(fs, 'writeSync').mockImplementation((_, bytes) => {
    written.push(bytes as unknown as Uint8Array);
    return (bytes as unknown as Uint8Array).length;
  });
  syncBuiltinESMExports();
  createLog('info', 'api').info({ name: obeyed }, obeyed);
  write.mockRestore();
  syncBuiltinESMExports();
  const line = Buffer.concat(written).toString();
  expect(JSON.parse(line)).toMatchObject({ name: obeyed, msg: obeyed });
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
});

test('a line waits no longer for a full pipe after the clock is set back', () => {
  let tries = 0;
  const full = Object.assign(new Error('full'), { code: 'EAGAIN' });
  const mocks = [
    vi.spyOn(fs, 'writeSync').mockImplementation((_, bytes) => {
      if (++tries < 5) throw full;
      return (bytes as unknown as Uint8Array).length;
    }),
    vi.spyOn(Date, 'now').mockReturnValueOnce(86_400_000).mockReturnValue(0),
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(2_000),
  ];
  syncBuiltinESMExports();
  createLog('info', 'api').info('a line');
  for (const mock of mocks) mock.mockRestore();
  syncBuiltinESMExports();
  expect(tries).toBe(1);
});

test('the stack of an error follows its line', () => {
  const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at work' };
  const line = {
    level: 50,
    time: '2026-11-22T12:04:31.123Z',
    process: 'worker',
    err,
    method: 'GET',
  };
  expect(toPlainLine(JSON.stringify(line))).toBe(
    '12:04:31 error worker: method=GET\nError: no\n    at work\n',
  );
});

test('an error of Postgres is logged without the values that it quotes', () => {
  const error = Object.assign(new Error('duplicate key value violates unique constraint'), {
    code: '23505',
    detail: 'Key (email)=(ada@home.example) already exists.',
    where: 'JSON data, line 1: {"email":"ada@home.example"',
  });
  const line = JSON.stringify(describeError(error));
  expect(JSON.parse(line)).toMatchObject({ message: error.message, code: '23505' });
  expect(line).not.toContain('ada@home');
});

test('a warning of Node is a line of the log, and no text between its lines', async () => {
  const listeners = process.listeners('warning');
  const line = await new Promise((resolve) => {
    logWarnings({ warn: (...given: unknown[]) => resolve(given) });
    expect(process.listeners('warning')).toHaveLength(1);
    const warning = Object.assign(new Error('this Node is old'), { emitter: 'of a caller' });
    process.emitWarning(Object.assign(warning, { name: 'OldWarning', code: 'OLD1' }));
  });
  process.removeAllListeners('warning');
  for (const listener of listeners) process.on('warning', listener);
  const stack = expect.stringContaining('log.test.ts');
  expect(line).toEqual([{ warning: 'OldWarning', code: 'OLD1', stack }, 'this Node is old']);
});
