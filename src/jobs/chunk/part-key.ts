/** The key holds the epoch: what a worker with an old lease writes is another object. */
export function partKey(
  batchId: string,
  chunk: { number: number; parts: number; epoch: number },
): string {
  return `batches/${batchId}/parts/${chunk.number}-${chunk.parts}-${chunk.epoch}.csv`;
}
