/** A list as the API answers it, and the words for it. */
import type { Tone } from './components/badge.tsx';

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
  error: { detail?: string; code?: string; line?: number } | null;
  operation: string;
  rows: Record<Outcome, number> & { total: number | null; processed: number };
  credits: { charged: number; reserved: number; max: number | null };
  rows_per_second: number | null;
  eta_seconds: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface Batch extends Progress {
  mapping: Record<string, { column: number; header: string | null; reason?: string }[]>;
  dialect: {
    encoding: string;
    delimiter: string;
    newline: string;
    header: string[] | null;
    doubts: string[];
  };
  quote: Quote | null;
}

export interface Quote {
  state: string;
  credits?: number;
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

/** The priced operations: what a row may be asked for. */
export const operations = [
  { name: 'people.enrich', label: 'Enrich people', price: 1 },
  { name: 'people.enrich-with-company', label: 'Enrich people with their company', price: 1 },
  { name: 'people.mobile', label: 'Find mobile numbers', price: 8 },
  { name: 'people.email-verify', label: 'Verify work e-mails', price: 1 },
  { name: 'companies.enrich', label: 'Enrich companies', price: 1 },
  { name: 'companies.logo', label: 'Find company logos', price: 1 },
  { name: 'companies.financials', label: 'Find company financials', price: 1 },
] as const;

export function operationLabel(name: string): string {
  return operations.find((operation) => operation.name === name)?.label ?? name;
}
