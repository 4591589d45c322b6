-- Batches: an uploaded list, its chunks, and the parts of its result.

create table batches (
  id uuid primary key,
  account_id uuid not null references accounts,
  key_id uuid not null references api_keys,
  live boolean not null,
  name text not null,
  state text not null default 'created' check (state in (
    'created', 'validating', 'ready', 'queued', 'running', 'paused',
    'finalizing', 'completed', 'cancelling', 'cancelled', 'failed')),
  -- Why the batch is paused: insufficient_credits, or user.
  reason text check ((reason is not null) = (state = 'paused')),
  -- The problem document of a failed batch.
  error jsonb check ((error is not null) = (state = 'failed')),
  operation text not null,
  mapping jsonb not null,
  dialect jsonb not null,
  -- Names of the record's fields to write, or null for all of them.
  fields text[],
  default_region text,
  country text,
  max_credits bigint check (max_credits >= 0),
  -- Wait in `ready` until somebody starts it.
  hold boolean not null default false,
  -- The second row of one record is `duplicate`; chunks then run in order.
  dedupe boolean not null default false,
  -- A match that disagrees with the list's own name or company is no match.
  require_agreement boolean not null default false,
  -- The batch whose rows this one runs again.
  rerun_of uuid references batches on delete set null,
  -- The exact price from a match pass, when one was asked for.
  quote jsonb,
  -- What was read, repaired and filled; written at the end.
  report jsonb,
  upload_key text not null,
  upload_bytes bigint not null,
  -- Known once the file is split. The canonical object is the upload itself when that is UTF-8.
  canonical_key text,
  width int,
  chunks_total int,
  chunks_done int not null default 0,
  rows_total int,
  blank_lines int,
  matched int not null default 0,
  no_match int not null default 0,
  ambiguous int not null default 0,
  invalid int not null default 0,
  suppressed int not null default 0,
  duplicate int not null default 0,
  error_rows int not null default 0,
  not_processed int not null default 0,
  credits_charged bigint not null default 0,
  credits_reserved bigint not null default 0 check (credits_reserved >= 0),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Uploads and results are kept for a while, the counts for ever.
  files_deleted_at timestamptz,
  check (max_credits is null or credits_charged + credits_reserved <= max_credits),
  check (matched + no_match + ambiguous + invalid + suppressed + duplicate + error_rows
    + not_processed <= rows_total),
  check (state not in ('queued', 'running', 'paused', 'finalizing', 'completed')
    or (canonical_key is not null and rows_total is not null and chunks_total is not null and width is not null)),
  check (state <> 'completed' or (chunks_done = chunks_total and credits_reserved = 0
    and matched + no_match + ambiguous + invalid + suppressed + duplicate + error_rows
    + not_processed = rows_total))
);
create index batches_account on batches (account_id, live, created_at desc, id desc);
create index batches_open on batches (account_id, created_at)
  where state in ('created', 'validating', 'queued', 'running', 'finalizing', 'cancelling');

-- A chunk is a byte range of the upload. Its epoch is the fencing token: every claim raises it, and
-- nothing that a holder of an older epoch does counts.
create table chunks (
  id bigint generated always as identity primary key,
  batch_id uuid not null references batches on delete cascade,
  number int not null,
  byte_from bigint not null,
  byte_to bigint not null,
  first_row int not null,
  first_line int not null,
  rows int not null check (rows > 0),
  -- Progress inside the chunk: an empty wallet ends a part early.
  rows_done int not null default 0 check (rows_done between 0 and rows),
  parts int not null default 0,
  state text not null default 'pending' check (state in ('pending', 'dispatched', 'leased', 'done')),
  epoch int not null default 0,
  dispatched_at timestamptz,
  lease_until timestamptz check ((lease_until is not null) = (state = 'leased')),
  run_after timestamptz,
  failures int not null default 0,
  -- Rows that a part may hold, after a chunk failed again and again: the bad row is closed in on.
  part_rows_max int check (part_rows_max > 0),
  unique (batch_id, number),
  check ((state = 'done') = (rows_done = rows))
);
create index chunks_open on chunks (batch_id, state, number) where state <> 'done';

-- What a reader of the result may see: only objects that a commit recorded.
create table parts (
  batch_id uuid not null references batches on delete cascade,
  chunk_number int not null,
  k int not null,
  object_key text not null unique,
  rows int not null check (rows > 0),
  bytes bigint not null,
  -- Counts for the report of the batch.
  report jsonb not null default '{}',
  primary key (batch_id, chunk_number, k)
);

-- Two-phase: reserved, then settled or voided, each once; nothing ends by time alone.
create table reservations (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  batch_id uuid not null references batches,
  chunk_id bigint not null references chunks,
  epoch int not null,
  amount bigint not null check (amount > 0),
  state text not null default 'open' check (state in ('open', 'settled', 'voided')),
  created_at timestamptz not null default now(),
  ended_at timestamptz check ((ended_at is not null) = (state <> 'open'))
);
create unique index reservations_open on reservations (chunk_id) where state = 'open';
create index reservations_open_account on reservations (account_id) where state = 'open';

-- The records that a batch with `dedupe` has already answered, with the row that did. Deleted at its end.
create table batch_records (
  batch_id uuid not null references batches on delete cascade,
  record_id bigint not null,
  row int not null,
  primary key (batch_id, record_id)
);
