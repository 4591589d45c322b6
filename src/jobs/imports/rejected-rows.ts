/** The rejected rows of a run: counted by reason, and kept as JSON lines for the operator. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { ObjectStore } from '../../core/storage/object-store.ts';

/** A file that is read by the wrong adapter would be rejected whole. */
const BYTES_MAX = 20 * 1024 * 1024;

/** The key of the rejected rows of a run. */
export const rejectsKey = (id: string) => `imports/${id}/rejects`;

export interface RejectedRows {
  /** Takes the lines of an import. */
  output: Transform;
  /** Rows by reason. */
  reasons: Record<string, number>;
  /** Stores the lines, if there are any; those beyond 20 MiB are only counted. */
  keep(store: ObjectStore, id: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openRejectedRows(): Promise<RejectedRows> {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-import-rejects-'));
  const file = path.join(folder, 'rejects');
  const reasons: Record<string, number> = {};
  let bytes = 0;
  const output = new Transform({
    transform(line: Buffer, _encoding, done) {
      const { reason } = JSON.parse(line.toString('utf8')) as { reason: string };
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      bytes += line.length;
      done(null, bytes > BYTES_MAX ? undefined : line);
    },
  });
  const written = pipeline(output, createWriteStream(file, { mode: 0o600 }));
  // A failure is thrown by `keep`.
  written.catch(() => {});
  return {
    output,
    reasons,
    async keep(store, id) {
      output.end();
      await written;
      if (bytes > 0) await store.putStream(rejectsKey(id), createReadStream(file));
    },
    async [Symbol.asyncDispose]() {
      output.destroy();
      await finished(output).catch(() => {});
      await written.catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}
