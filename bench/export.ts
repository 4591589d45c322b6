/**
 * An export of all people, compared with COPY of the same query on the same server, which records no ids,
 * charges nothing and cannot be resumed.
 */
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { measure } from './measure.ts';
import type { MeasuredWork } from './measured-run.ts';

export interface ExportOptions {
  fields: readonly string[];
  persons: number;
  runs: number;
}

/** The export of all people as work to measure. */
export function exportWork(fields: readonly string[]): MeasuredWork {
  return {
    async start(client) {
      return (await client.createExport({ filter: 'id=1-', fields })).id;
    },
    read: (client, id) => client.getExport(id),
    results: (client, id) => client.getExportResults(id),
  };
}

/** Measures the export of ten fields of all people. */
export function measureExport(
  stack: BenchStack,
  { fields, persons, runs }: ExportOptions,
): Promise<BenchResult[]> {
  return measure(stack, exportWork(fields), {
    name: 'export-ten-fields',
    script: 'export-ten-fields',
    reference: 'COPY of the same ten fields of the same people',
    goal: 1.5,
    rows: persons,
    runs,
  });
}
