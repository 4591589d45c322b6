/** A list as the API answers it, and the words for it. */
import type { Tone } from '../components/badge.tsx';
import type { DisclosedTotal } from '../format.ts';

export type BatchState =
  | 'created'
  | 'validating'
  | 'ready'
  | 'queued'
  | 'running'
  | 'paused'
  | 'finalizing'
  | 'completed'
  | 'cancelling'
  | 'cancelled'
  | 'failed';

/** What a row can come to, in the order in which it is shown. */
export const outcomes = [
  'matched',
  'no_match',
  'ambiguous',
  'invalid',
  'suppressed',
  'duplicate',
  'error',
  'not_processed',
] as const;
export type Outcome = (typeof outcomes)[number];

/** What lists and exports tell alike. */
export interface Progress {
  id: string;
  name: string;
  live: boolean;
  state: BatchState;
  reason: string | null;
  error: { detail?: string; code?: string } | null;
  operation: string;
  rows: Record<Outcome, number> & { total: number | null; processed: number };
  /** How `rows.total` of an export is to be read; those of lists are exact. */
  total_is?: DisclosedTotal['total_is'] | null;
  credits: { charged: number; reserved: number; max: number | null };
  rows_per_second: number | null;
  eta_seconds: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  files_deleted_at: string | null;
}

/** The rows of a list, or the people of an export; null while they are not known. */
export function rowsOf({ rows, total_is }: Progress): DisclosedTotal | null {
  return rows.total === null ? null : { total: rows.total, total_is: total_is ?? 'exact' };
}

/** Lists and exports live alike, under paths of their own. */
export interface Resource {
  path: string;
  noun: string;
  /** What one of its rows is, and several. */
  row: readonly [string, string];
}

export const lists: Resource = { path: '/v1/batches', noun: 'batch', row: ['row', 'rows'] };
export const exportFiles: Resource = {
  path: '/v1/exports',
  noun: 'export',
  row: ['person', 'people'],
};

export interface Dialect {
  encoding: string;
  delimiter: string;
  newline: string;
  header: string[] | null;
  doubts: string[];
}

export type Mapping = Record<string, { column: number; header: string | null; reason?: string }[]>;

export interface Batch extends Progress {
  mapping: Mapping;
  dialect: Dialect;
  default_region: string | null;
  dedupe: boolean;
  require_agreement: boolean;
  not_as_xlsx: string | null;
  quote: Quote | null;
}

/** The price of a batch without its own limit, from a match pass that charged nothing. */
export interface Quote {
  state: 'running' | 'done';
  rows?: Partial<Record<Outcome, number>>;
  credits?: number;
  /** `at_most` where fewer than ten rows match. */
  credits_is?: 'exact' | 'at_most';
  affordable?: boolean;
}

const states: Record<BatchState, { label: string; tone: Tone }> = {
  created: { label: 'Received', tone: 'active' },
  validating: { label: 'Being read', tone: 'active' },
  ready: { label: 'Ready to start', tone: 'warn' },
  queued: { label: 'Queued', tone: 'active' },
  running: { label: 'Running', tone: 'active' },
  paused: { label: 'Paused', tone: 'warn' },
  finalizing: { label: 'Finishing', tone: 'active' },
  completed: { label: 'Completed', tone: 'good' },
  cancelling: { label: 'Being cancelled', tone: 'neutral' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'bad' },
};

export function stateLabel(state: BatchState): string {
  return states[state].label;
}

export function stateTone(state: BatchState): Tone {
  return states[state].tone;
}

/** True for a state that nothing leaves. */
export function isFinal(state: BatchState): boolean {
  return ['completed', 'cancelled', 'failed'].includes(state);
}
