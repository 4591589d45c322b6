/** Changes of a held list. */
import { call } from '../api.ts';
import { type Changes as AnyChanges, useChanges } from '../use-changes.ts';
import type { Batch } from './batch.ts';
import { tellMovedOn } from './moved-on.ts';
import type { Live } from './use-live-batch.ts';

/** The body of `PATCH /v1/batches/:id`. */
export interface Change {
  name?: string;
  mapping?: Record<string, number[]>;
  fields?: readonly string[] | null;
  dedupe?: boolean;
  match?: 'exact' | 'likely';
  require_agreement?: boolean;
  max_credits?: number | null;
  default_region?: string | null;
}

export type Changes = AnyChanges<Change>;

export function useListChanges({ id }: Batch, live: Live<Batch>): Changes {
  return useChanges<Change>(async (sent) =>
    live.show(await tellMovedOn(live, call('PATCH', `/v1/batches/${id}`, { body: sent }))),
  );
}
