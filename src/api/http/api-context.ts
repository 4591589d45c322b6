import type { EnrichCalls } from '../../core/calls/enrich-calls.ts';
import type { Config } from '../../core/config.ts';
import type { Context } from '../../core/context.ts';
import type { Replicas } from '../../core/db/replicas.ts';
import type { Admit, Authenticate } from '../../core/keys/admission.ts';
import type { KeyUses } from '../../core/keys/key-uses.ts';
import type { ReadSearch } from '../../core/search/read-search.ts';
import type { FindSession } from '../../core/sessions/sessions.ts';
import type { BatchWatcher } from '../../jobs/batch/watch-batches.ts';
import type { Queues } from '../../jobs/queue/queues.ts';

export interface ApiContext extends Context {
  config: Config;
  /** The databases that lookups of live keys read. */
  replicas: Replicas;
  /** Runs person searches and previews within each account's share. */
  readSearch: ReadSearch;
  queues: Queues;
  watcher: BatchWatcher;
  keyUses: KeyUses;
  /** Admits metered calls; concurrent ones are coalesced. */
  admit: Admit;
  /** Finds the keys of unmetered calls; concurrent ones are coalesced. */
  authenticate: Authenticate;
  /** Finds the sessions of browsers; concurrent look-ups are coalesced. */
  findSession: FindSession;
  /** Runs single calls; concurrent ones are coalesced. */
  calls: EnrichCalls;
}
