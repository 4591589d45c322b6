import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A row that was rejected. */
interface RejectedRow {
  line: number;
  reason: string;
  field: string | null;
  record: unknown;
}

/** Writes a rejected row as a line. Throws once the output has failed. */
export async function writeReject(rejects: Writable, row: RejectedRow): Promise<void> {
  const { line, reason, field, record } = row;
  if (rejects.write(`${JSON.stringify({ line, reason, field, record })}\n`)) return;
  // A stream that has failed, as on a full disk, never drains.
  if (rejects.destroyed)
    throw rejects.errored ?? new Error('the output of rejected rows is closed');
  await once(rejects, 'drain');
}
