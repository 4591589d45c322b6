/** The shape of `bench/results/latest.json`: the measurements write it, the page about them reads it. */
import { z } from 'zod';

/** One measured run of one side. Its figures other than the wall time are for the record. */
const run = z.looseObject({ wallSeconds: z.number() });

const runPair = z.object({ ours: run, reference: run });

/** Medians of the runs. Null where the machine does not report the figure. */
const figure = z.number().nullable();

/** A finding, judged, with the circumstances of its measurement. */
const benchResult = z.object({
  /** The benchmark that found it: running that one again replaces it. */
  benchmark: z.string(),
  name: z.string(),
  unit: z.string(),
  ours: figure,
  reference: figure,
  /** A description of `reference`. */
  against: z.string(),
  better: z.enum(['lower', 'higher']),
  /** The ratio to reach; null for a figure without a goal. */
  goal: z.number().nullable(),
  /** Ours / reference. */
  ratio: figure,
  /** True when the ratio reaches the goal; null without a goal. */
  ok: z.boolean().nullable(),
  details: z.record(z.string(), z.unknown()),
  /** Every run, or one pair with the medians of all in the committed file. */
  runs: z.array(runPair),
  /** ISO 8601. */
  measuredAt: z.string(),
  /** Runnable processes in the minute before the whole run began. */
  loadAverageBefore: z.number(),
  /** Share of the cores that was busy in the second before this benchmark, its own service idle. */
  busyBefore: z.number().nullable(),
  versions: z.record(z.string(), z.string()),
  /** The code that was measured, with `+` when it was changed since; null outside of a repository. */
  commit: z.string().nullable(),
});

export const benchFile = z.object({
  machine: z.object({
    cpu: z.string(),
    cores: z.number(),
    memoryMiB: z.number(),
    system: z.string(),
  }),
  settings: z.record(z.string(), z.unknown()),
  results: z.array(benchResult),
});

export type Run = z.infer<typeof run>;
export type RunPair = z.infer<typeof runPair>;
export type StoredResult = z.infer<typeof benchResult>;
export type BenchFile = z.infer<typeof benchFile>;
