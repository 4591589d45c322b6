/**
 * The lists under `samples/`: a messy lead list of 5,000 rows over the graph that `generateGraph(sql,
 * sampleGraph)` generates. The test of the demo makes them again and compares.
 */
import path from 'node:path';
import type { Database } from '../../src/core/db/client.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { writeLeadFiles } from './generate-leads.ts';

/** The graph of the samples. */
export const sampleGraph = { persons: 100_000, companies: 20_000, seed: 1 } as const;
const sampleLeads = { rows: 5_000, seed: 1, style: 'messy' } as const;

/**
 * Writes `leads.csv` and `leads.truth.csv` into `folder`, by default the package's `samples`. `sql` must contain
 * the sample graph.
 */
export async function makeSamples(
  sql: Database,
  folder: string = path.join(packageRoot, 'samples'),
): Promise<void> {
  await writeLeadFiles(sql, sampleLeads, {
    leads: path.join(folder, 'leads.csv'),
    truth: path.join(folder, 'leads.truth.csv'),
  });
}
