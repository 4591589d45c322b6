/** A list as the API answers it, and the words for it. */
import type { Batch as ApiBatch, Export } from '../../client/api-types.ts';
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

/** Outcomes of a row, in the order in which they are shown. */
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

/** Members that lists and exports share. */
export interface Progress extends Pick<ApiBatch, keyof ApiBatch & keyof Export> {
  state: BatchState;
  error: { detail?: string; code?: string } | null;
  /** How `rows.total` of an export is to be read; those of lists are exact. */
  total_is?: Export['total_is'];
  /** The list whose rows a list reruns, as for decisions; exports have none. */
  rerun_of?: string | null;
}

/** The rows of a list, or the people of an export; null while they are not known. */
export function rowsOf({ rows, total_is }: Progress): DisclosedTotal | null {
  return rows.total === null ? null : { total: rows.total, total_is: total_is ?? 'exact' };
}

/** Lists and exports live alike, under paths of their own. */
export interface Resource {
  path: string;
  noun: string;
  /** The noun for one of its rows, and for several. */
  row: readonly [string, string];
}

export const lists: Resource = { path: '/v1/batches', noun: 'list', row: ['row', 'rows'] };
export const exportFiles: Resource = {
  path: '/v1/exports',
  noun: 'export',
  row: ['person', 'people'],
};

export type Dialect = ApiBatch['dialect'];

export type Mapping = Record<string, { column: number; header: string | null; reason?: string }[]>;

export interface Batch
  extends Progress,
    Pick<ApiBatch, 'key_id' | 'match' | 'not_as_xlsx' | 'quote'> {
  mapping: Mapping;
  dialect: Dialect;
  default_region: string | null;
  rerun_of: string | null;
  fields: readonly string[] | null;
  dedupe: boolean;
  require_agreement: boolean;
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
