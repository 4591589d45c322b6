/** An import run: files on their way into the graph, or an import on its way out of it, as an operator asks for it. */
import { z } from 'zod';
import type { SourceImportReport } from '../../core/graph/sources/import-source.ts';

export const runStates = [
  ...(['receiving', 'examining', 'ready', 'counting', 'importing', 'undoing'] as const),
  ...(['done', 'failed', 'cancelled'] as const),
] as const;
export type RunState = (typeof runStates)[number];

/** A file of a run; `key` is that of its object. */
export interface RunFile {
  name: string;
  key: string;
  bytes: number;
  /** Absent of one that an older version received, less than a day ago. */
  crc32?: number;
}

/** A mapping and its name, which is also that of its source. */
const namedMapping = z
  .object({
    name: z.string(),
    of: z.enum(['persons', 'companies']),
    columns: z.record(z.string(), z.array(z.string())),
    country: z.string().optional(),
  })
  .meta({ id: 'ImportMapping' });
export type NamedMapping = z.output<typeof namedMapping>;

/** The operator's choices; null leaves it to the files. */
const optionsSchema = z.object({
  source: z.string().nullable(),
  mapping: namedMapping.nullable(),
  as_of: z.string().nullable(),
  allow_gone: z.boolean(),
});
export type RunOptions = z.output<typeof optionsSchema>;

const previewRow = z.object({
  line: z.number().int(),
  entity: z.enum(['company', 'person', 'officer', 'financial']).nullable(),
  key: z.string().nullable(),
  record: z.record(z.string(), z.unknown()).nullable(),
  reason: z.string().nullable(),
});
export type PreviewRow = z.output<typeof previewRow>;

const foundSchema = z.object({
  source: z.string(),
  as_of: z.string(),
  snapshot: z.boolean(),
  mapping: namedMapping.nullable(),
  /**
   * `several`: the mapping is one of `fitting`, and the operator must choose. `replacing`: it was given under the name of
   * another kept mapping.
   */
  mapping_origin: z.enum(['guessed', 'kept', 'several', 'given', 'replacing']).nullable(),
  /** The kept mappings whose columns the file has; left out when there are fewer than two. */
  fitting: z.array(namedMapping).optional(),
  columns: z.array(z.object({ name: z.string(), samples: z.array(z.string()) })),
  preview: z.array(previewRow),
});
export type Found = z.output<typeof foundSchema>;

const countsSchema = z.object({
  rows: z.number().int(),
  new: z.number().int(),
  changed: z.number().int(),
  same: z.number().int(),
  gone: z.number().int(),
  merged: z.number().int(),
  rejected: z.number().int(),
  suppressed: z.number().int(),
});
export type Counts = z.output<typeof countsSchema>;

export const importRunSchema = z
  .object({
    id: z.uuid(),
    kind: z.enum(['import', 'undo']),
    state: z.enum(runStates),
    files: z.array(z.object({ name: z.string(), bytes: z.number().int() })),
    options: optionsSchema,
    found: foundSchema.nullable(),
    counts: countsSchema.nullable(),
    reasons: z.record(z.string(), z.number().int()).nullable(),
    import_id: z.number().int().nullable(),
    progress: z
      .object({ step: z.enum(['waiting', 'reading', 'building']), count: z.number().int() })
      .nullable(),
    problem: z
      .object({ code: z.string(), status: z.number().int(), detail: z.string() })
      .nullable(),
    revision: z.string().meta({
      description: 'Changes with the files, the options and what was found in them.',
    }),
    created_at: z.string(),
    finished_at: z.string().nullable(),
    links: z.object({ self: z.string() }),
  })
  .meta({ id: 'ImportRun' });

/** A row of `import_runs`. */
export interface ImportRun {
  id: string;
  accountId: string;
  kind: 'import' | 'undo';
  state: RunState;
  files: RunFile[];
  options: Partial<RunOptions>;
  found: Found | null;
  counts: Counts | null;
  reasons: Record<string, number> | null;
  importId: number | null;
  told: number[];
  step: 'waiting' | 'reading' | 'building' | null;
  stepCount: number | null;
  problem: { code: string; status: number; detail: string } | null;
  revision: string;
  epoch: number;
  attempts: number;
  createdAt: Date;
  finishedAt: Date | null;
}

/** The problem of a file that several kept mappings fit, until the operator chooses; null for other files. */
export function severalProblem({ mapping_origin: origin, fitting = [] }: Found) {
  if (origin !== 'several') return null;
  const names = fitting.map(({ name }) => name).join(', ');
  const detail = `Several kept mappings have the columns of this file: ${names}. Choose the one of its source, or name a new mapping for another source.`;
  return { code: 'several_mappings', status: 422, detail };
}

/** Returns the JSON of a run. */
export function viewRun(run: ImportRun): z.output<typeof importRunSchema> {
  const { step, stepCount: count } = run;
  return {
    id: run.id,
    kind: run.kind,
    state: run.state,
    files: run.files.map(({ name, bytes }) => ({ name, bytes })),
    options: optionsOf(run),
    found: run.found,
    counts: run.counts,
    reasons: run.reasons,
    import_id: run.importId,
    progress: step === null ? null : { step, count: count ?? 0 },
    problem: run.problem,
    revision: run.revision,
    created_at: run.createdAt.toISOString(),
    finished_at: run.finishedAt?.toISOString() ?? null,
    links: { self: `/admin/import-runs/${run.id}` },
  };
}

export function optionsOf({ options }: Pick<ImportRun, 'options'>): RunOptions {
  return { source: null, mapping: null, as_of: null, allow_gone: false, ...options };
}

export function countsOf({ import_id: _, source: __, ...counts }: SourceImportReport): Counts {
  return counts;
}
