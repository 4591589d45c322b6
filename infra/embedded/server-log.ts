/**
 * The server's output: appended to a file of bounded size, with its end kept in memory. The server writes to a pipe
 * and not to the file: a file would grow without limit while the server runs, and on a full disk it would miss the
 * lines about that.
 */
import { appendFile, rename, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Maximum of the file, and of the previous one, which ends in `.1`. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
const TAIL_BYTES_MAX = 4_000;

interface ServerLog {
  /** Appends the stream; resolves at its end, and never rejects. */
  follow(stream: Readable): Promise<void>;
  /** Returns the last lines written since this log was opened. */
  tail(): string;
}

/** Opens the log of one run of the server; `log` gets one line when the file cannot be written. */
export function openServerLog(
  file: string,
  log: (line: string) => void,
  bytesMax = FILE_BYTES_MAX,
): ServerLog {
  let tail: Buffer = Buffer.alloc(0);
  let isLost = false;
  let written = Promise.resolve();
  const write = async (bytes: Buffer) => {
    try {
      await makeRoom(file, bytes.length, bytesMax);
      await appendFile(file, bytes, { mode: 0o600 });
    } catch (error) {
      if (!isLost) log(`PostgreSQL's log ${file} cannot be written, lines are lost: ${error}`);
      isLost = true;
    }
  };
  return {
    async follow(stream) {
      try {
        for await (const bytes of stream as AsyncIterable<Buffer>) {
          tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES_MAX);
          written = written.then(() => write(bytes));
          // Reading pauses meanwhile: a flood of lines waits in the pipe and not in memory.
          await written;
        }
      } catch {
        // The stream was destroyed, because its last writer is not the server itself.
      }
    },
    tail: () => tail.toString('utf8').trim(),
  };
}

/** Rotates the file when the bytes would exceed its maximum. */
async function makeRoom(file: string, bytes: number, bytesMax: number): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size + bytes <= bytesMax) return;
  if (size > 0) await rename(file, `${file}.1`);
}
