import { scrapeHere } from './scrape.ts';

export interface PartsAnswered {
  copy: number;
  postgres: number;
  repeated: number;
}

/** Counts the parts that each reader of people answered for while `work` ran, and those that had to be repeated. */
export async function partsDuring(work: () => Promise<unknown>): Promise<PartsAnswered> {
  const before = await readParts();
  await work();
  const after = await readParts();
  return {
    copy: after.copy - before.copy,
    postgres: after.postgres - before.postgres,
    repeated: after.repeated - before.repeated,
  };
}

async function readParts(): Promise<PartsAnswered> {
  const scrape = await scrapeHere();
  const matched = (by: string) => scrape.sum('enrich_list_parts_matched_total', { by }) ?? 0;
  const repeated = scrape.sum('enrich_parts_total', { end: 'repeated' }) ?? 0;
  return { copy: matched('copy'), postgres: matched('postgres'), repeated };
}
