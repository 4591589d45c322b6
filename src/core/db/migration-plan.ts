/** The migrations that `migrate` would apply, with their locks and an estimate of their time by the sizes of the tables. */
import type { Sql } from './client.ts';
import { listPending } from './migrate.ts';
import {
  readRunsWith,
  readSteps,
  runsOutsideTransaction,
  type Step,
  type Work,
} from './migration-steps.ts';

/**
 * Megabytes a second for work that depends on the size of a table, measured on 2026-11-22 on two busy cores with 365 MB in
 * memory: validating a check 551, an index over texts 181, changing all rows 29.
 */
const megabytesPerSecond: Record<Exclude<Work, 'brief'>, number> = {
  scan: 500,
  index: 180,
  rewrite: 30,
};
const MEGABYTE = 1_000_000;

export interface PlannedStep extends Step {
  /** As the statistics of Postgres have them; 0 without a table. */
  rows: number;
  bytes: number;
  /** Those who wait for the table meanwhile. */
  waits: 'none' | 'writers' | 'readers and writers';
  /** Estimate. A brief step takes milliseconds once it has its lock. */
  seconds: number;
}

export interface PlannedMigration {
  name: string;
  /** Oldest version whose processes may start afterwards; null for this one. */
  runs_with: string | null;
  in_transaction: boolean;
  steps: PlannedStep[];
}

/** Reads what `migrate` would do, without doing it. Throws as `migrate`. */
export async function planMigrations(sql: Sql, folder?: string): Promise<PlannedMigration[]> {
  const pending = await listPending(sql, folder);
  const planned: PlannedMigration[] = [];
  for (const { schema, name, text } of pending) {
    const steps: PlannedStep[] = [];
    for (const step of readSteps(text)) {
      const size = step.table === null ? NO_SIZE : await readSize(sql, schema, step.table);
      steps.push(estimate(step, size));
    }
    planned.push({
      name: `${schema}/${name}`,
      runs_with: readRunsWith(text),
      in_transaction: !runsOutsideTransaction(text),
      steps,
    });
  }
  return planned;
}

interface Size {
  rows: number;
  bytes: number;
}

const NO_SIZE: Size = { rows: 0, bytes: 0 };

/** The size of a table that may not exist yet; `schema` is that of an unqualified name. */
async function readSize(sql: Sql, schema: string, table: string): Promise<Size> {
  const name = table.includes('.') ? table : `${schema}.${table}`;
  const [size] = await sql<[Size]>`
    select coalesce(greatest(c.reltuples, 0), 0)::bigint as rows, coalesce(pg_table_size(c.oid), 0) as bytes
    from (select to_regclass(${name}) as oid) named left join pg_class c on c.oid = named.oid`;
  return size;
}

function estimate(step: Step, { rows, bytes }: Size): PlannedStep {
  const seconds = step.work === 'brief' ? 0 : bytes / MEGABYTE / megabytesPerSecond[step.work];
  return { ...step, rows, bytes, waits: waitsOf(step), seconds: Math.ceil(seconds * 10) / 10 };
}

function waitsOf({ lock }: Step): PlannedStep['waits'] {
  if (lock === 'ACCESS EXCLUSIVE') return 'readers and writers';
  return lock === 'SHARE' || lock === 'SHARE ROW EXCLUSIVE' ? 'writers' : 'none';
}
