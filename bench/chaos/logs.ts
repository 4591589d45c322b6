/** The logs of the processes. */
import { readFile } from 'node:fs/promises';
import type { KeptProcess } from './kept-process.ts';

/** Number of times that a worker without its lease tried to continue and was refused. */
export async function countRefusedParts(workers: readonly KeptProcess[]): Promise<number> {
  const logs = await Promise.all(workers.map(({ logFile }) => readFile(logFile, 'utf8')));
  return logs.reduce((sum, log) => sum + log.split('"part refused"').length - 1, 0);
}
