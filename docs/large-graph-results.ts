/** The shape of `bench/results/large-graph.json`: `bench/large-graph.ts` writes it, the page about scaling reads it. */
import path from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../src/core/lib/package-root.ts';

export const largeGraphFile = path.join(packageRoot, 'bench', 'results', 'large-graph.json');

const cpuSeconds = z.object({ node: z.number(), postgres: z.number() });

const list = z.object({
  /** Columns of the result: ten fields, or all. */
  fields: z.enum(['ten', 'all']),
  /** The place that the worker reads the graph from. */
  from: z.enum(['copy', 'postgres']),
  /** True when nothing of the graph was in the page cache; otherwise the same list ran just before. */
  isCold: z.boolean(),
  rows: z.number(),
  seconds: z.number(),
  cpuSeconds,
  /** Peaks of the proportional set size. */
  pssMiB: z.object({ api: z.number(), worker: z.number() }),
  /** Bytes that the service and Postgres read from the disk. */
  diskBytes: z.number(),
  credits: z.number(),
});

const graph = z.object({
  people: z.number(),
  companies: z.number(),
  machine: z.record(z.string(), z.unknown()),
  measuredAt: z.string(),
  commit: z.string().nullable(),
  versions: z.record(z.string(), z.string()),
  /** The load average at the begin, and after each measurement. */
  loads: z.array(z.number()),
  /** Bytes of each table of the graph with its indexes. */
  graphBytes: z.record(z.string(), z.number()),
  /** Starts the service and makes the graph, unless an earlier run left it. */
  generateSeconds: z.number(),
  build: z.object({
    seconds: z.number(),
    cpuSeconds,
    bytes: z.number(),
    /** Of `bytes`, the table of identifiers of people. */
    tableBytes: z.number(),
    records: z.number(),
    pssMiB: z.number(),
    /** By how much the free space of the disk fell: the copy, and temporary files of Postgres. */
    diskBytes: z.number(),
  }),
  open: z.object({ coldSeconds: z.number(), seconds: z.number() }),
  lists: z.array(list),
  roll: z.object({
    seconds: z.number(),
    changed: z.number(),
    bytes: z.number(),
    pssMiB: z.number(),
  }),
  dropSeconds: z.number(),
});

/** In order of their people. */
export const largeGraphs = z.array(graph);

export type LargeList = z.infer<typeof list>;
export type LargeGraph = z.infer<typeof graph>;
