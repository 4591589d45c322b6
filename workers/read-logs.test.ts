import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLogs } from './read-logs.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'read-logs-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, bytes: Buffer | string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}

const read = async (...files: string[]) => {
  const lines: string[] = [];
  for await (const line of readLogs(files)) lines.push(line);
  return lines;
};

test('logs are read one after the other, those that logrotate has gzipped too', async () => {
  const zipped = Buffer.concat([gzipSync('{"a":1}\n'), gzipSync('{"b":2}\r\n{"c":3}')]);
  const files = [
    await write('api.log.2.gz', zipped),
    await write('api.log.1', ''),
    await write('api.log', '{"d":4}\n'),
  ];
  expect(await read(...files)).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}']);
});

test('a pipe is read to its end', async () => {
  const pipe = path.join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const lines = read(pipe);
  await writeFile(pipe, gzipSync('{"a":1}\n'));
  expect(await lines).toEqual(['{"a":1}']);
});

test('what is no log ends with its reason, and is not read for ever', async () => {
  const cutOff = gzipSync('{"a":1}\n'.repeat(1_000)).subarray(0, 30);
  const endless = gzipSync(Buffer.alloc(65 * 1024 * 1024));
  for (const [file, why] of [
    ['/dev/zero', 'is a folder or a device'],
    [folder, 'is a folder or a device'],
    [await write('cut.gz', cutOff), 'is a gzip that is damaged or cut off'],
    [await write('bad.gz', Buffer.from([0x1f, 0x8b, 9, 9, 9, 9])), 'is a gzip that is damaged'],
    [await write('endless', endless), 'has a line of more than 64 MiB'],
  ] as const) {
    await expect(read(file)).rejects.toMatchObject({
      code: 'unreadable_log',
      message: expect.stringContaining(`${file} ${why}`),
    });
  }
  await expect(read(path.join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});
