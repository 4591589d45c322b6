/** What the processes said about themselves. */
import { readFile } from 'node:fs/promises';
import type { KeptProcess } from './kept-process.ts';

/** How often a worker that had lost its lease tried to go on, and was refused. */
export async function countRefusedParts(workers: readonly KeptProcess[]): Promise<number> {
  const logs = await Promise.all(workers.map(({ logFile }) => readFile(logFile, 'utf8')));
  return logs.reduce((sum, log) => sum + log.split('"part refused"').length - 1, 0);
}
