import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { receiveUpload } from './receive-upload.ts';

const early = { code: 'invalid_request', status: 400 };

test('a client that disconnected before the upload was read gets that error', async () => {
  const source = new PassThrough();
  source.destroy();
  await expect(finished(receiveUpload(source, 100))).rejects.toMatchObject(early);
});

test('a client that disconnects before the stream is read ends only its upload', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy();
  // An unhandled error event would end the process here.
  await setImmediate();
  await expect(finished(received)).rejects.toMatchObject(early);
});

test('a connection reset during the upload is the client’s error, not ours', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  await expect(finished(received)).rejects.toMatchObject(early);
});

test('a lost connection to the database, from which a rerun reads its rows, is not the client’s', async () => {
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy(lost);
  await expect(finished(received)).rejects.toBe(lost);
});

describe('a gzip', () => {
  const list = 'email\np1@list.example\n';
  const member = gzipSync(list);
  const zeros = Buffer.alloc(512);
  const read = async (...chunks: Buffer[]) =>
    String(await buffer(receiveUpload(Readable.from(chunks), 100_000)));

  test('that is filled up with zeros is read to its end', async () => {
    expect(await read(Buffer.concat([member, zeros]))).toBe(list);
    expect(await read(Buffer.concat([member, zeros]), zeros, zeros)).toBe(list);
    expect(await read(Buffer.concat([member, member]), zeros)).toBe(list + list);
    expect(await read(...[...member, ...zeros].map((byte) => Buffer.from([byte])))).toBe(list);
  });

  test('that gives no more output has received no more than a list may have', async () => {
    const tooLarge = { code: 'file_too_large', status: 413 };
    const empty = gzipSync('');
    for (const more of [zeros, empty]) {
      let sent = 0;
      const endless = Readable.from(
        (function* () {
          yield member;
          for (; sent < 1_000_000; sent += more.length) yield more;
        })(),
      );
      await expect(finished(receiveUpload(endless, 100_000).resume())).rejects.toMatchObject(
        tooLarge,
      );
      expect(sent).toBeLessThan(200_000);
    }
  });

  test('with more after the zeros is refused', async () => {
    const broken = { code: 'unreadable_csv', status: 422 };
    const whole = Buffer.concat([member, zeros, member]);
    await expect(read(whole)).rejects.toMatchObject(broken);
    await expect(read(Buffer.concat([member, zeros]), member)).rejects.toMatchObject(broken);
  });

  test('that expands a thousandfold after bytes that do not waits for its reader', async () => {
    const MiB = 1024 * 1024;
    const bytes = Buffer.concat([randomBytes(MiB), Buffer.alloc(90 * MiB)]);
    const received = receiveUpload(Readable.from([gzipSync(bytes)]), 100 * MiB);
    const found: Buffer[] = [];
    let length = 0;
    let held = 0;
    for await (const block of received) {
      found.push(block as Buffer);
      length += (block as Buffer).length;
      if (length < 2 * MiB || held > 0) continue;
      // A pause of the reader, until nothing has come for many turns.
      for (let turns = 0; turns < 10_000; turns++) {
        await setImmediate();
        if (received.readableLength > held) turns = 0;
        held = received.readableLength;
      }
    }
    expect(held).toBeLessThan(MiB);
    expect(Buffer.concat(found).equals(bytes)).toBe(true);
  });
});
