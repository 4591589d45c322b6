/**
 * The tables of `docs/scaling.md`: measurements of one machine, and arithmetic on them for larger ones. Every
 * figure comes from `bench/results/latest.json` and from the counts that tests hold.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { configOptions } from '../src/core/config.ts';
import { must } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import type { BenchFile, StoredResult } from './bench-results.ts';
import { figure, grouped, table } from './markdown-table.ts';
import { cpuSeconds, medianOf } from './performance-page.ts';

const MILLION = 1_000_000;
const GIB = 2 ** 30;

const workCounts = z.object({
  chunk: z.object({
    statements: z.record(z.string(), z.number()),
    transactions: z.number(),
    objectsWritten: z.number(),
  }),
});

/** The cost of one row of a list. CPU in microseconds. */
interface RowCost {
  node: number;
  postgres: number;
  resultBytes: number;
}

/**
 * The generated sections of the page, by name. Throws when lines were never measured, or on a machine that does not
 * report CPU time.
 */
export function scalingSections(file: BenchFile): Record<string, string> {
  const lines = ['line-ten-fields', 'line-all-columns'].map((name) => ({
    name,
    cost: rowCost(find(file, name)),
  }));
  const chunk = readChunkCounts();
  return {
    'million-rows': renderMillion(lines, chunk),
    graphs: renderGraphs(file),
    workers: renderWorkers(must(lines[0], 'a line').cost, chunk, file),
  };
}

function find(file: BenchFile, name: string): StoredResult {
  return must(
    file.results.find((result) => result.name === name),
    `the measurement ${name}`,
  );
}

function rowCost({ runs, details }: StoredResult): RowCost {
  const { rows, bytes } = z
    .object({ rows: z.number(), bytes: z.object({ ours: z.number() }) })
    .parse(details);
  const cpu = (kind: string) =>
    (must(medianOf(runs.map(({ ours }) => cpuSeconds(ours, kind))), 'CPU time') / rows) * MILLION;
  return { node: cpu('node'), postgres: cpu('postgres'), resultBytes: bytes.ours / rows };
}

interface ChunkCounts {
  rows: number;
  statements: number;
  transactions: number;
  objects: number;
}

function readChunkCounts(): ChunkCounts {
  const file = path.join(packageRoot, 'tests', 'support', 'work-counts.json');
  const { chunk } = workCounts.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { statements, transactions, objectsWritten: objects } = chunk;
  const all = Object.values(statements).reduce((sum, count) => sum + count, 0);
  return { rows: Number(configOptions.chunkRows.shown), statements: all, transactions, objects };
}

function renderMillion(lines: { name: string; cost: RowCost }[], chunk: ChunkCounts): string {
  const chunks = Math.ceil(MILLION / chunk.rows);
  const heads = ['per million rows', ...lines.map(({ name }) => name)];
  const both = (value: number) => lines.map(() => grouped(Math.round(value)));
  return table(heads, [
    ['CPU seconds of API and workers', ...lines.map(({ cost }) => figure(cost.node))],
    ['CPU seconds of Postgres', ...lines.map(({ cost }) => figure(cost.postgres))],
    ['bytes of the result', ...lines.map(({ cost }) => grouped(cost.resultBytes * MILLION))],
    [`chunks of ${grouped(chunk.rows)} rows`, ...both(chunks)],
    [
      `statements, each a round trip: ${chunk.statements} per chunk`,
      ...both(chunks * chunk.statements),
    ],
    [`transactions: ${chunk.transactions} per chunk`, ...both(chunks * chunk.transactions)],
    [`objects: ${chunk.objects} per chunk`, ...both(chunks * chunk.objects)],
  ]);
}

function renderGraphs(file: BenchFile): string {
  const { graph } = z
    .object({ graph: z.object({ persons: z.number(), bytes: z.record(z.string(), z.number()) }) })
    .parse(find(file, 'line-ten-fields').details);
  const { persons, bytes: graphBytes } = graph;
  const counts = [persons, 10 * MILLION, 100 * MILLION, 1000 * MILLION];
  const rows = Object.entries(graphBytes)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 6)
    .map(([name, bytes]): [string, number] => [`\`${name}\``, bytes]);
  const all = Object.values(graphBytes).reduce((sum, bytes) => sum + bytes, 0);
  return table(
    ['GiB, with indexes', 'bytes per person', ...counts.map((count) => `${grouped(count)} people`)],
    [...rows, ['all tables', all] as [string, number]].map(([name, bytes]) => [
      name,
      grouped(Math.round(bytes / persons)),
      ...counts.map((count) => figure(((bytes / persons) * count) / GIB)),
    ]),
  );
}

function renderWorkers(cost: RowCost, chunk: ChunkCounts, file: BenchFile): string {
  const rows = [1, 10, 100].map((workers) => {
    const rowsPerSecond = (workers * MILLION) / cost.node;
    const chunksPerSecond = rowsPerSecond / chunk.rows;
    return [
      grouped(workers),
      grouped(Math.round(rowsPerSecond)),
      figure((rowsPerSecond * cost.postgres) / MILLION),
      figure(chunksPerSecond),
      figure(chunksPerSecond * chunk.statements),
      figure(chunksPerSecond * chunk.transactions),
      figure((rowsPerSecond * cost.resultBytes) / 2 ** 20),
    ];
  });
  const heads = [
    'cores of workers',
    'rows/s',
    'cores of Postgres',
    'chunks/s',
    'statements/s',
    'transactions/s',
    'MiB/s written',
  ];
  const measured = file.results
    .filter(({ benchmark }) => benchmark.startsWith('workers-'))
    .map(
      ({ name, ours, reference }) =>
        `\`${name}\` ${figure(ours)} (one process: ${figure(reference)})`,
    );
  const seen = measured.length === 0 ? 'not measured yet' : measured.join(', ');
  return `${table(heads, rows)}\n\nMeasured with chunks of a hundred rows, chunks/s on this machine: ${seen}.`;
}
