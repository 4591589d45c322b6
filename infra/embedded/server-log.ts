/**
 * The server's output: appended to a file of bounded size, with its end kept in memory. The server writes to a pipe
 * and not to the file: a file would grow without limit while the server runs, and on a full disk it would miss the
 * lines about that.
 */
import { appendFile, rename, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Of the file, and of the one before it, which ends in `.1`. */
const fileBytesMax = 16 * 1024 * 1024;
const tailBytesMax = 4_000;

interface ServerLog {
  /** Appends all that comes; resolves at the end of the stream, and never rejects. */
  follow(stream: Readable): Promise<void>;
  /** The last lines, as far as they were written since this log was opened. */
  tail(): string;
}

/** Opens the log of one run of the server; `log` gets one line when the file cannot be written. */
export function openServerLog(
  file: string,
  log: (line: string) => void,
  bytesMax = fileBytesMax,
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
          tail = Buffer.concat([tail, bytes]).subarray(-tailBytesMax);
          written = written.then(() => write(bytes));
          // Nothing more is read meanwhile: a flood of lines waits in the pipe and not in memory.
          await written;
        }
      } catch {
        // The stream was destroyed, because what still writes to it is not the server itself.
      }
    },
    tail: () => tail.toString('utf8').trim(),
  };
}

/** Puts the file aside when the bytes do not fit into it any more. */
async function makeRoom(file: string, bytes: number, bytesMax: number): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size + bytes <= bytesMax) return;
  // Versions before this one had no bound: a file of theirs is not kept a second time.
  if (size > 2 * bytesMax) await rm(file);
  else if (size > 0) await rename(file, `${file}.1`);
}
