/** The object key of a part. It contains the epoch, so a worker with an old lease writes another object. */
export function partKey(
  batchId: string,
  chunk: { number: number; parts: number; epoch: number },
): string {
  return `batches/${batchId}/parts/${chunk.number}-${chunk.parts}-${chunk.epoch}.csv`;
}
