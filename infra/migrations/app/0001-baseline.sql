-- The service's own tables: accounts, keys, money, batches, schedules, webhooks. Applied once, to the schema
-- `public`. The first release; every later change is a separate migration.

-- One row: the identity of this installation. Its object store has it too, so that a process which was given another's
-- database or store finds out.
create table installation (
  id uuid primary key default gen_random_uuid(),
  is_only boolean not null default true unique check (is_only),
  -- End of the last `enrich backup`.
  backed_up_at timestamptz
);
insert into installation default values;

create table accounts (
  id uuid primary key,
  name text not null,
  email text,
  created_at timestamptz not null default now(),
  -- scrypt with its parameters and salt; null for an account without sign-in.
  password_hash text,
  constraint accounts_password_email check (password_hash is null or email is not null)
);

-- An address that signs in belongs to one account, however it is spelt.
create unique index accounts_sign_in on accounts (lower(email)) where password_hash is not null;

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  mode text not null check (mode in ('live', 'test')),
  -- The part by which a person recognises the key; the key itself is shown once and never stored.
  prefix text not null,
  key_sha256 bytea not null unique,
  scopes text[] not null,
  requests_per_minute int not null default 60 check (requests_per_minute > 0),
  requests_per_day int not null default 10000 check (requests_per_day > 0),
  rows_per_minute int check (rows_per_minute > 0),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- The holder's name for it.
  name text,
  -- Expiry of a rolled key; until then it works along with the new one.
  expires_at timestamptz,
  -- The key that password sessions present: one per account and mode. Its text is discarded, and lists of keys
  -- omit it.
  is_console boolean not null default false,
  -- The key whose counters of requests, rows and credits count for this one: its own unless a key with such a
  -- limit created it. Copied from the creating key, so that a key of a key counts where the first of them does.
  requests_of uuid not null references api_keys,
  rows_of uuid not null references api_keys,
  credits_of uuid not null references api_keys
);
create index api_keys_account on api_keys (account_id);
create unique index api_keys_console on api_keys (account_id, mode)
  where is_console and revoked_at is null;

-- One wallet per account. Reserved credits are still in the balance, but cannot be spent otherwise.
create table wallets (
  account_id uuid primary key references accounts,
  balance bigint not null default 0,
  reserved bigint not null default 0,
  -- The balance below which a wallet's charges must be reported: the highest threshold of the account's webhooks,
  -- null without any. It is stored here, because a trigger's WHEN sees only its own row.
  watched_below bigint,
  -- Days for which a person is not charged again; 0 charges for each delivery. It is stored here, because every charge
  -- locks this row.
  owned_days int not null default 0 check (owned_days between 0 and 3650),
  check (0 <= reserved and reserved <= balance)
);

-- Append-only: the sum of an account's lines is its balance, always.
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  -- The reason for the line; the same reference twice is the same event, and moves nothing twice.
  reference text not null,
  kind text not null check (kind in ('grant', 'charge', 'refund')),
  amount bigint not null check (amount <> 0),
  operation text,
  units bigint,
  batch_id uuid,
  -- The key that a charge is for; null for what the operator moved.
  key_id uuid,
  created_at timestamptz not null default now(),
  unique (account_id, reference),
  check ((kind = 'charge') = (amount < 0))
);
create index ledger_entries_account_time on ledger_entries (account_id, created_at, id);

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger_entries is append-only: write a new line instead';
end $$;

create trigger ledger_entries_append_only
  before update or delete on ledger_entries
  for each row execute function refuse_ledger_change();

create trigger ledger_entries_no_truncate
  before truncate on ledger_entries
  for each statement execute function refuse_ledger_change();

-- The people that an account with `owned_days` has paid for, with the latest charge for each. Written with the charge.
create table owned_people (
  account_id uuid not null references accounts,
  -- What was paid for: 1 the record, 2 the mobile number.
  kind smallint not null check (kind in (1, 2)),
  person_id bigint not null,
  -- The ledger line. Without a foreign key, whose check would read it for each person of a part.
  charge_id bigint not null,
  paid_at timestamptz not null,
  primary key (account_id, kind, person_id)
);

-- Those of the people that the account has paid for in these days. Volatile: it sees what is committed when it is
-- called, not when its statement began. A statement that has locked the wallet sees every charge before its own.
create function owned_of(p_account_id uuid, p_kind smallint, p_ids bigint[], p_days int)
  returns setof bigint volatile language plpgsql as $$
begin
  return query select person_id from owned_people
    where account_id = p_account_id and kind = p_kind and person_id = any(p_ids)
      and paid_at > clock_timestamp() - make_interval(days => p_days);
end $$;

create table batches (
  id uuid primary key,
  account_id uuid not null references accounts,
  key_id uuid not null references api_keys,
  live boolean not null,
  name text not null,
  state text not null default 'created' check (state in ('created', 'validating', 'ready',
    'queued', 'running', 'paused', 'finalizing', 'completed', 'cancelling', 'cancelled', 'failed')),
  -- Reason of a pause, or `expired` for a batch that the service cancelled.
  reason text,
  -- The problem document of a failed batch.
  error jsonb,
  operation text not null,
  mapping jsonb not null,
  dialect jsonb not null,
  -- Names of the record's fields to write; null for all of them.
  fields text[],
  default_region text,
  country text,
  max_credits bigint check (max_credits >= 0),
  -- Wait in `ready` until started.
  hold boolean not null default false,
  -- The second row of one record is `duplicate`; chunks then run in order.
  dedupe boolean not null default false,
  -- How rows are matched: by identifiers alone, or also by name; then the probability that such a match needs.
  match text not null default 'exact' check (match in ('exact', 'likely')),
  min_probability double precision not null default 0.95 check (min_probability between 0.5 and 1),
  -- A match that disagrees with the list's own name or company is not a match.
  require_agreement boolean not null default false,
  -- Names of the record's fields without which a record does not match; null for none.
  required text[],
  -- The batch whose rows this one runs again.
  rerun_of uuid references batches on delete set null,
  -- The number of each of its rows in the list that was uploaded; null for an upload, and when the files are deleted.
  rerun_rows int[],
  -- Of decisions about ambiguous rows, the record that each of them means, 0 for none; deleted with the files.
  rerun_records bigint[],
  -- The exact price from a match pass, if one was requested.
  quote jsonb,
  -- Counts of read, repaired and filled rows; written at the end.
  report jsonb,
  upload_key text,
  upload_bytes bigint,
  -- Known once the file is split. The canonical object is the upload itself when it is UTF-8.
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
  -- Of the matched rows, those that were not charged because the account owned the person.
  owned int not null default 0 check (owned between 0 and matched),
  credits_charged bigint not null default 0,
  credits_reserved bigint not null default 0 check (credits_reserved >= 0),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Uploads and results are kept for a while, the counts forever.
  files_deleted_at timestamptz,
  kind text not null default 'list' check (kind in ('list', 'export')),
  -- The search as sent, a query string; a long one is deleted with the files.
  filter text,
  -- The filter names people, so the total of an export is not shown for free.
  names_people boolean,
  -- Default format of its downloads.
  format text,
  gzip boolean,
  -- The first this many people, by id; null for all of them.
  max_results int check (max_results > 0),
  -- The schedule whose run this export is; it may have been deleted.
  schedule_id uuid,
  -- Excludes people whom the schedule has delivered before.
  only_new boolean not null default false,
  -- How many of its people the account owned when their ids were written.
  owned_found int not null default 0,
  -- Start of the batch's current state. A trigger sets it, so that no statement can forget it.
  state_since timestamptz not null default now(),
  -- The pace: rows committed since `paced_since`, of about the last half minute in the state `running`. Each part forgets
  -- its share of what is older.
  paced_since timestamptz,
  paced_rows double precision not null default 0,
  -- Seconds in the state `running`, without the present stay in it.
  ran_seconds double precision not null default 0,
  -- Number of the last change that callers see. A trigger raises it, so that no statement can forget it: of two
  -- responses about a batch, the one with the higher revision is the newer one.
  revision int not null default 1,
  -- The W3C traceparent of the request that created the batch: its jobs are part of that trace.
  trace_parent text,
  -- Reason why no chunk of the batch may be claimed now: 'time' until `claim_after`, 'key' until `key_waits` lets
  -- its key continue. Null when nothing blocks it. `claim_after` stays when the wait is over.
  waits_for text check (waits_for in ('time', 'key')),
  claim_after timestamptz,
  -- The account, while chunks of the batch may be claimed. A separate column, because the planner must not take
  -- another index for the round-robin over accounts: all others also contain the batches that cannot run. A batch
  -- that is cancelled before its split has no chunks.
  claimable_account uuid generated always as (
    case when state in ('queued', 'running', 'cancelling') and chunks_total is not null and waits_for is null
      then account_id end) stored,
  -- Consecutive claims that failed. Failures of the database or the store do not count.
  job_attempts int not null default 0,
  -- Earliest next claim: a pause after a failure, or until the rows per minute of the key allow a quote.
  job_after timestamptz,
  -- End of the lease of the worker that claimed the job.
  job_lease_until timestamptz,
  -- Time since which the object that the batch reads has been missing from the store.
  object_missing_since timestamptz,
  -- Bytes of the objects of a batch: its upload and canonical copy, or the ids of an export, and the parts of its
  -- result. Counted by the statements that record the objects; an object that is rewritten by a redaction keeps
  -- its first size.
  stored_bytes bigint not null default 0 check (stored_bytes >= 0),
  -- Maximum bytes that it may reach before the batch has ended, without the paid columns; known from the split on.
  stored_bytes_open bigint not null default 0,
  -- Reason why no workbook can hold the result of a list, as far as its own rows determine it; found by the split.
  not_as_xlsx text,
  upload_crc32 bigint,
  -- Of the first 65,536 bytes, the only ones that previews read.
  upload_head_crc32 bigint,
  -- Of the object at `canonical_key`.
  canonical_bytes bigint,
  canonical_crc32 bigint,
  -- Last time that the scrub read all objects of the batch, and how many of them were damaged or missing then.
  objects_checked_at timestamptz,
  objects_damaged int not null default 0,
  check ((error is not null) = (state = 'failed')),
  check (rerun_records is null or (rerun_rows is not null and cardinality(rerun_records) = cardinality(rerun_rows))),
  check (schedule_id is not null or not only_new),
  check (waits_for <> 'time' or claim_after is not null),
  check (max_credits is null or (credits_charged + credits_reserved <= max_credits)),
  check (matched + no_match + ambiguous + invalid + suppressed + duplicate + error_rows + not_processed <= rows_total),
  check (state not in ('queued', 'running', 'paused', 'finalizing', 'completed')
    or (canonical_key is not null and rows_total is not null and chunks_total is not null
    and width is not null)),
  check (state <> 'completed' or ((chunks_done = chunks_total) and credits_reserved = 0
    and (matched + no_match + ambiguous + invalid + suppressed + duplicate + error_rows + not_processed = rows_total))),
  check ((kind = 'list') = (upload_key is not null and upload_bytes is not null)),
  check ((kind = 'export') = (format is not null and gzip is not null and names_people is not null)),
  check (filter is null or kind = 'export'),
  check (filter is not null or kind = 'list' or files_deleted_at is not null),
  check (kind = 'export' or max_results is null),
  check (kind = 'export' or (schedule_id is null and not only_new)),
  constraint batches_reason_known check (case
    when state = 'paused' then reason is not null
      and (reason in ('insufficient_credits', 'key_budget', 'user')
        or (reason = 'max_credits' and kind = 'list'))
    when state in ('cancelling', 'cancelled') then reason is null or reason = 'expired'
    else reason is null end)
);

-- Lists and exports are listed separately.
create index batches_of_kind on batches (account_id, kind, live, created_at desc, id desc);
create index batches_reruns on batches (rerun_of) where rerun_of is not null;
create index batches_claimable on batches (claimable_account, created_at, id)
  where claimable_account is not null;
create index batches_waiting_for_time on batches (claim_after) where waits_for = 'time';
create index batches_waiting_for_key on batches (key_id, created_at, id) where waits_for = 'key';

-- Batches of one key and operation lack the same credits.
create index batches_short_of_credits on batches (account_id, key_id, operation, reason)
  where state = 'paused' and reason in ('insufficient_credits', 'key_budget');

create index batches_not_ended on batches (state, account_id)
  where state not in ('completed', 'cancelled', 'failed');

-- One index for each job, of the batches that wait for it. None contains a column that a chunk's commit changes.
create index batches_to_split on batches (account_id, created_at)
  where kind = 'list' and state in ('created', 'validating') and chunks_total is null;
create index batches_to_select on batches (account_id, created_at)
  where kind = 'export' and state in ('created', 'validating') and chunks_total is null;
create index batches_to_finish on batches (account_id, created_at)
  where state in ('finalizing', 'cancelling') and chunks_total is not null;
create index batches_to_quote on batches (account_id, created_at)
  where state = 'ready' and quote ->> 'state' = 'running';
create index batches_job_held on batches (account_id) where job_lease_until is not null;
create index batches_stored on batches (account_id, finished_at) where files_deleted_at is null;

-- The scrub takes the batch whose objects were read the longest ago.
create index batches_objects_checked on batches ((coalesce(objects_checked_at, created_at)))
  where files_deleted_at is null;

-- A chunk is a byte range of the upload. Its epoch is the fencing token: every claim raises it, and writes under
-- an older epoch do not count.
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
  rows_done int not null default 0,
  parts int not null default 0,
  state text not null default 'pending' check (state in ('pending', 'dispatched', 'leased', 'done')),
  epoch int not null default 0,
  dispatched_at timestamptz,
  lease_until timestamptz,
  run_after timestamptz,
  failures int not null default 0,
  -- Maximum rows of a part, after a chunk failed repeatedly: isolates a poison row by bisection.
  part_rows_max int check (part_rows_max > 0),
  -- Of the bytes from `byte_from` to `byte_to`.
  crc32 bigint not null,
  unique (batch_id, number),
  check (rows_done >= 0 and rows_done <= rows),
  check ((lease_until is not null) = (state = 'leased')),
  check ((state = 'done') = (rows_done = rows))
);
create index chunks_open on chunks (batch_id, state, number) where state <> 'done';

-- Small, whatever the number of pending chunks.
create index chunks_in_flight on chunks (batch_id) where state in ('dispatched', 'leased');

-- The objects visible to readers of the result: only those that a commit recorded.
create table parts (
  batch_id uuid not null references batches on delete cascade,
  chunk_number int not null,
  number int not null,
  object_key text not null unique,
  rows int not null check (rows > 0),
  bytes bigint not null,
  -- Counts for the report of the batch.
  report jsonb not null default '{}',
  -- Suppressions up to this number are redacted from the part. Null: it shows no people.
  suppression_number bigint,
  -- Commit time of the part: a batch without new parts makes no progress.
  committed_at timestamptz not null default now(),
  -- Bytes of the longest row of a part: no cell of it is longer.
  row_bytes_max int not null,
  crc32 bigint not null,
  -- Of the object with the ids of the people in the part; null for a part that shows no people.
  ids_bytes bigint,
  ids_crc32 bigint,
  primary key (batch_id, chunk_number, number),
  check ((ids_bytes is null) = (ids_crc32 is null))
);
create index parts_suppression_number on parts (suppression_number)
  where suppression_number is not null;

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
  ended_at timestamptz,
  -- The day of the key's budget that a reservation takes from; null for a key without one. A void returns the
  -- credits to that day, and settled ones stay spent on it.
  budget_day date,
  check ((ended_at is not null) = (state <> 'open'))
);
create unique index reservations_open on reservations (chunk_id) where state = 'open';
create index reservations_open_account on reservations (account_id) where state = 'open';

-- The records that a batch with `dedupe` has returned, with the number of their row in the list that was uploaded. Kept
-- with its files: a rerun does not charge for them again.
create table batch_records (
  batch_id uuid not null references batches on delete cascade,
  record_id bigint not null,
  "row" int not null,
  primary key (batch_id, record_id)
);

-- Responses stored for requests that are repeated with their Idempotency-Key.
create table idempotency_keys (
  account_id uuid not null references accounts,
  live boolean not null,
  method text not null,
  path text not null,
  key text not null,
  -- The current claim: the responder must still hold it. An expired claim may be taken over.
  claim uuid not null,
  claimed_until timestamptz not null,
  -- Set with the response: SHA-256 of the request, and the response.
  request_sha256 bytea,
  status int,
  -- Not jsonb, which would order the members anew: a replay sends the response as it was.
  body json,
  created_at timestamptz not null default now(),
  primary key (account_id, live, method, path, key),
  check (((status is null) = (request_sha256 is null)) and ((status is null) = (body is null)))
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Limits: token buckets by the generic cell rate algorithm (one time per bucket, the theoretical arrival
-- time, instead of a counter and a drip; see ITU-T I.371 and brandur.org/rate-limiting) and counters per
-- UTC day. The clock is the server's, so any number of processes share a bucket exactly.

create table rate_buckets (
  owner uuid not null,
  name text not null,
  -- Theoretical arrival time: the time at which the bucket is full again.
  full_at timestamptz not null,
  primary key (owner, name)
) with (fillfactor = 50);

create table day_counts (
  owner uuid not null,
  day date not null,
  requests int not null,
  primary key (owner, day)
) with (fillfactor = 50);

-- Takes `p_cost` tokens from a bucket that holds `p_per_minute` and gains as many a minute. A refusal takes
-- nothing. A cost above the capacity is admitted by a full bucket and puts it into debt. Returns the tokens left,
-- the time until the bucket is full, and for a refusal the time until the same cost is admitted. Times are rounded
-- down to whole microseconds for the whole cost: rounded up, a bucket of 7 a minute would miss its seventh token
-- by three microseconds.
create function take_tokens(
  p_owner uuid, p_name text, p_per_minute int, p_cost int,
  out admitted boolean, out remaining int, out full_in interval, out retry_in interval
) language plpgsql as $$
declare
  microsecond constant interval := interval '1 microsecond';
  capacity constant interval := interval '1 minute';
  moment timestamptz := clock_timestamp();
  gained_in interval := (60000000::bigint * p_cost / p_per_minute) * microsecond;
  previous timestamptz;
  next timestamptz;
begin
  insert into rate_buckets (owner, name, full_at) values (p_owner, p_name, moment)
    on conflict do nothing;
  select full_at into previous from rate_buckets where owner = p_owner and name = p_name for update;
  moment := greatest(moment, clock_timestamp());
  previous := greatest(previous, moment);
  next := previous + gained_in;
  admitted := next - moment <= capacity or previous = moment;
  if admitted then
    update rate_buckets set full_at = next where owner = p_owner and name = p_name;
    previous := next;
    retry_in := interval '0';
  else
    retry_in := least(next - capacity, previous) - moment;
  end if;
  full_in := previous - moment;
  remaining := greatest(0, floor(extract(epoch from capacity - full_in) * p_per_minute / 60))::int;
end $$;

-- Grants part of a key's day to a store that counts on its own: as much as is wanted and left. Granted requests
-- count as used, so that the day's cap is never exceeded, even if they are lost.
create function lease_requests(
  p_owner uuid, p_day date, p_per_day int, p_wanted int, out granted int, out total int
) language plpgsql as $$
begin
  insert into day_counts (owner, day, requests) values (p_owner, p_day, 0) on conflict do nothing;
  select requests into total from day_counts where owner = p_owner and day = p_day for update;
  granted := greatest(0, least(p_wanted, p_per_day - total));
  if granted > 0 then
    total := total + granted;
    update day_counts set requests = total where owner = p_owner and day = p_day;
  end if;
end $$;

-- The maximum credits that single calls of a key may spend in one UTC day, if the key sets one, and the amount
-- spent. Locked after the account's wallet.
create table key_budgets (
  key_id uuid primary key references api_keys,
  credits_per_day bigint check (credits_per_day > 0),
  day date not null default '1970-01-01',
  spent bigint not null default 0 check (spent >= 0),
  -- Credits of the day that batches of the key reserved or were charged; `spent` is that of its single calls.
  spent_by_batches bigint not null default 0 check (spent_by_batches >= 0)
) with (fillfactor = 50);

-- The columns that an account chose last for lists with a header, to offer them again.
create table list_mappings (
  account_id uuid not null references accounts,
  live boolean not null,
  operation text not null,
  -- Of the names of the columns, in their order.
  header_sha256 bytea not null,
  -- Numbers of columns from 1, by kind.
  mapping jsonb not null,
  used_at timestamptz not null default now(),
  primary key (account_id, live, operation, header_sha256)
);

-- Mappings that people keep under a name, for lists of any header.
create table named_mappings (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  operation text not null,
  name text not null,
  -- Names of columns by kind.
  columns jsonb not null,
  created_at timestamptz not null default now(),
  unique (account_id, live, operation, name)
);

-- Filters that an account keeps under a name.
create table saved_searches (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  name text not null,
  -- A query string, as sent.
  filter text not null,
  created_at timestamptz not null default now(),
  unique (account_id, live, name)
);

create table uploads (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  -- Of the object that the presigned address writes; it may never arrive.
  key text not null unique,
  created_at timestamptz not null default now(),
  -- Time at which a batch was created from it: once.
  used_at timestamptz
);
create index uploads_age on uploads (created_at);
create index uploads_unused on uploads (account_id) where used_at is null;

-- Files on their way into the graph, and imports on their way out of it, as an operator asks for them. The graph's own
-- table `imports` has what was imported.
create table import_runs (
  id uuid primary key,
  account_id uuid not null references accounts,
  kind text not null check (kind in ('import', 'undo')),
  state text not null check (state in ('receiving', 'examining', 'ready', 'counting', 'importing', 'undoing', 'done',
    'failed', 'cancelled')),
  -- `[{name, key, bytes}]`; the objects are deleted when it ends.
  files jsonb not null default '[]',
  -- What the operator chose: `{source, mapping, as_of, allow_gone}`.
  options jsonb not null default '{}',
  -- What the files are: `{source, as_of, snapshot, mapping, columns, preview}`. It holds people: deleted when it ends.
  found jsonb,
  counts jsonb,
  -- Rejected rows by reason.
  reasons jsonb,
  -- Of `imports`: the one that it wrote, or that it undoes.
  import_id bigint,
  -- Later imports that the operator was told would be undone too.
  told bigint[] not null default '{}',
  step text,
  step_count bigint,
  problem jsonb,
  -- A claim raises the epoch; writes of an older one have no effect.
  epoch int not null default 0,
  attempts int not null default 0,
  lease_until timestamptz,
  claim_after timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  files_deleted_at timestamptz
);
create index import_runs_account on import_runs (account_id, id);
create index import_runs_open on import_runs (created_at) where finished_at is null;

create function utc_today() returns date stable language sql
  as $$ select (now() at time zone 'UTC')::date $$;

-- Objects to delete: new ones until a commit records them, old ones once it has replaced them. Housekeeping
-- deletes those that a crash leaves here.
create table discarded_objects (
  key text primary key,
  since timestamptz not null default now()
);
create index discarded_objects_since on discarded_objects (since);

create table schedules (
  id uuid primary key,
  account_id uuid not null references accounts,
  -- The key that created or last changed it: its exports run under that key's limits, and end with it.
  key_id uuid not null references api_keys,
  live boolean not null,
  name text not null,
  cron text not null,
  time_zone text not null,
  filter text not null,
  fields text[],
  format text not null,
  -- `new` excludes people whom this schedule has delivered before.
  mode text not null check (mode in ('all', 'new')),
  max_results int check (max_results > 0),
  max_credits bigint check (max_credits >= 0),
  enabled boolean not null,
  -- The next slot; it stays while it is due and not taken.
  next_run_at timestamptz,
  created_at timestamptz not null default now(),
  check ((next_run_at is not null) = enabled)
);
create index schedules_account on schedules (account_id, live, created_at desc, id desc);
create index schedules_due on schedules (next_run_at) where enabled;

-- The outcome of each slot. A started one has its export.
create table schedule_runs (
  schedule_id uuid not null references schedules on delete cascade,
  slot timestamptz not null,
  state text not null check (state in ('started', 'skipped', 'failed')),
  -- Reason why it did not start.
  reason text,
  batch_id uuid references batches on delete set null,
  created_at timestamptz not null default now(),
  primary key (schedule_id, slot),
  check ((reason is not null) = (state <> 'started'))
);

-- The people whom a schedule has delivered: written by the commit of the part that contains and charges them.
create table schedule_deliveries (
  schedule_id uuid not null,
  person_id bigint not null,
  primary key (schedule_id, person_id)
);

-- Starts of pages of searches, for callers who page by `skip`: the next page is a step from there instead of a
-- walk from the beginning. Shared by all processes and soon worthless, so the table is unlogged: a crash may empty
-- it.
create unlogged table page_hints (
  account_id uuid not null,
  live boolean not null,
  filter_sha256 bytea not null,
  "position" bigint not null check ("position" > 0),
  last_id bigint not null,
  -- The text that the page is ordered by; null when that is the id.
  last_key text,
  expires_at timestamptz not null,
  primary key (account_id, live, filter_sha256, "position")
);
create index page_hints_age on page_hints (expires_at);

-- People whom an account does not want to find: an e-mail address by the SHA-256 of its canonical form, or a whole
-- domain. They are in no search, preview or export of the account.
create table do_not_contact (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  email_sha256 bytea,
  domain text,
  created_at timestamptz not null default now(),
  unique nulls not distinct (account_id, live, email_sha256, domain),
  check ((email_sha256 is null) <> (domain is null))
);
create index do_not_contact_account on do_not_contact (account_id, live, id);

-- When a key was used last, within five minutes. A table of its own: callers hold the rows of keys.
create table key_uses (
  key_id uuid primary key references api_keys,
  used_at timestamptz not null
) with (fillfactor = 50);

-- A session is another way to present a key: limits, scopes, budgets and ownership are the key's.
create table sessions (
  -- Of the cookie's text, which is never stored.
  token_sha256 bytea primary key,
  account_id uuid not null references accounts,
  key_id uuid not null references api_keys,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_account on sessions (account_id);
create index sessions_expiry on sessions (expires_at);

-- Links that sign a person in once, on the machine of the service. A link is deleted when it is used.
create table sign_in_links (
  -- Of the link's text, which is never stored.
  token_sha256 bytea primary key,
  account_id uuid not null references accounts,
  expires_at timestamptz not null
);

create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  url text not null,
  -- The types of events that it receives.
  events text[] not null check (cardinality(events) > 0),
  -- `credits.low` is sent when the balance falls below it.
  credits_low_threshold bigint not null check (credits_low_threshold > 0),
  enabled boolean not null,
  -- Reason why the service disabled it; null when it is enabled or its owner disabled it.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- Time since which every attempt has failed; null after a successful one.
  failing_since timestamptz,
  -- Keys of the signatures, encrypted if the service has a key for that. See jobs/webhook/signing-secret.
  secret bytea not null,
  -- The previous secret, which also signs for a while.
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null default now(),
  check ((previous_secret is null) = (previous_until is null)),
  check (not enabled or disabled_reason is null)
);
create index webhooks_account on webhooks (account_id, live, created_at desc, id desc);

-- One row for each event and each webhook that receives it.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references webhooks on delete cascade,
  -- The header webhook-id: the same for every attempt and every webhook.
  event_id uuid not null,
  type text not null,
  -- The body as sent, with only ids and counts: `json` keeps its text.
  payload json not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Raised by every claim: an outcome counts only with the latest number.
  attempts int not null default 0,
  -- Attempts since the event, or since it was last redelivered: the place in the schedule.
  round_attempts int not null default 0,
  due_at timestamptz not null default now(),
  -- Set while an attempt is in progress; an expired one is taken over.
  lease_until timestamptz,
  -- The outcome of the latest attempt.
  attempted_at timestamptz,
  response_status int,
  error text,
  duration_ms int,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  unique (webhook_id, event_id),
  check ((delivered_at is not null) = (state = 'delivered')),
  check (lease_until is null or state = 'pending')
);
create index webhook_deliveries_page on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at)
  where state = 'pending';
create index webhook_deliveries_leased on webhook_deliveries (webhook_id)
  where lease_until is not null;
create index webhook_deliveries_age on webhook_deliveries (created_at);

-- Formats a time as all responses of the service do.
create function iso_time(p_time timestamptz) returns text stable language sql as $$
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Builds the body of an event by Standard Webhooks.
create function webhook_payload(
  p_event_id uuid, p_at timestamptz, p_type text, p_live boolean, p_data json
) returns json stable language sql as $$
  select json_build_object('id', p_event_id, 'type', p_type, 'timestamp', iso_time(p_at),
    'live', p_live, 'data', p_data)
$$;

-- The id of an event that happens once to its subject. When it happens again, because the database was restored from
-- an earlier moment, it has the same id, so that its receiver knows it. A UUID of version 8.
create function event_id_of(p_type text, p_subject text) returns uuid immutable language sql as $$
  select overlay(overlay(md5(p_type || ' ' || p_subject) placing '8' from 13) placing 'a' from 17)::uuid
$$;

-- Records an event for every enabled webhook of the owner that receives its type; with a threshold, for those with
-- this one. Without a subject the event may happen again and has a random id. It never waits: only the deletion of a
-- webhook holds a conflicting lock, and such a webhook is skipped. The commit sends the notification to the workers.
-- The time is the clock's, not the start of the transaction: the charge that empties a wallet may have begun before
-- the one that came first.
create function record_webhook_event(
  p_account_id uuid, p_live boolean, p_type text, p_subject text, p_data json,
  p_threshold bigint default null
) returns void language plpgsql as $$
declare
  event_id uuid := coalesce(event_id_of(p_type, p_subject), gen_random_uuid());
  happened_at timestamptz := clock_timestamp();
begin
  insert into webhook_deliveries (webhook_id, event_id, type, payload, due_at, created_at)
  select w.id, event_id, p_type, webhook_payload(event_id, happened_at, p_type, p_live, p_data),
    happened_at, happened_at
  from webhooks w
  where w.account_id = p_account_id and w.live = p_live and w.enabled and p_type = any(w.events)
    and (p_threshold is null or w.credits_low_threshold = p_threshold)
  for key share skip locked
  on conflict do nothing;
  if found then
    perform pg_notify('webhook_deliveries', '');
  end if;
end $$;

-- An export that has charged for no one reports its counts to a webhook no more than to a call: total null, all
-- others 0. In test mode, where nothing is charged, a delivered person counts.
create function record_batch_event() returns trigger language plpgsql as $$
declare
  is_export boolean := new.kind = 'export';
  is_told boolean := new.kind = 'list' or new.matched > new.owned or (new.owned > 0 and new.owned = new.rows_total);
begin
  perform record_webhook_event(new.account_id, new.live,
    case when is_export then 'export.' else 'batch.' end || new.state,
    -- A batch pauses repeatedly, and ends once.
    new.id || case when new.state = 'paused' then ' ' || new.revision else '' end,
    -- Neither name nor filter nor the text of an error: a customer's text may name people.
    json_build_object(
      'id', new.id, 'state', new.state, 'reason', new.reason, 'error_code', new.error ->> 'code',
      'operation', new.operation, 'schedule_id', new.schedule_id,
      'rows', json_build_object(
        'total', case when is_told then new.rows_total end,
        'matched', case when is_told then new.matched else 0 end,
        'no_match', case when is_told then new.no_match else 0 end,
        'ambiguous', new.ambiguous, 'invalid', new.invalid,
        'suppressed', case when is_told then new.suppressed else 0 end,
        'duplicate', new.duplicate, 'error', case when is_told then new.error_rows else 0 end,
        'not_processed', case when is_told then new.not_processed else 0 end),
      'credits', json_build_object('charged', new.credits_charged, 'max', new.max_credits),
      'links', json_build_object(
        'self', case when is_export then '/v1/exports/' else '/v1/batches/' end || new.id)));
  return null;
end $$;

create trigger batches_webhook_event after update of state, reason on batches
  for each row when (
    new.state in ('completed', 'failed', 'cancelled', 'paused')
    and (old.state <> new.state or old.reason is distinct from new.reason))
  execute function record_batch_event();

-- A run is also skipped when its account has its maximum of open lists and exports.
create function record_schedule_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    s.id || ' ' || iso_time(new.slot),
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Other reasons quote the filter.
      'reason', case when new.reason in ('key_revoked', 'previous_run_open', 'storage_full', 'too_many_open')
        then new.reason else 'export_refused' end,
      'links', json_build_object('self', '/v1/schedules/' || s.id,
        'runs', '/v1/schedules/' || s.id || '/runs')))
  from schedules s where s.id = new.schedule_id;
  return null;
end $$;

create trigger schedule_runs_webhook_event after insert on schedule_runs
  for each row when (new.state <> 'started') execute function record_schedule_event();

create function record_key_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(new.account_id, new.mode = 'live', 'key.revoked',
    new.id::text, json_build_object('id', new.id, 'prefix', new.prefix));
  return null;
end $$;

-- The console's key is omitted from lists of keys, and so from events.
create trigger api_keys_webhook_event after update of revoked_at on api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null and not new.is_console)
  execute function record_key_event();

-- The balance, not the part free of reservations: a voided reservation returns its credits, and the same crossing
-- would be reported repeatedly.
create function record_credits_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(new.account_id, true, 'credits.low', null,
    json_build_object('threshold', crossed.threshold, 'balance', new.balance,
      'reserved', new.reserved),
    crossed.threshold)
  from (
    select distinct credits_low_threshold as threshold from webhooks
    where account_id = new.account_id and live and enabled and 'credits.low' = any(events)
      and old.balance >= credits_low_threshold and new.balance < credits_low_threshold) crossed;
  if new.balance = 0 then
    perform record_webhook_event(new.account_id, true, 'credits.empty', null,
      json_build_object('balance', new.balance, 'reserved', new.reserved));
  end if;
  return null;
end $$;

create trigger wallets_webhook_event after update of balance on wallets
  for each row when (new.balance < old.balance and new.balance < new.watched_below)
  execute function record_credits_event();

-- Heartbeats of processes. Nothing is lost with the table: the next beat writes the row again.
create unlogged table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker')),
  host text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  -- Leases of dead or frozen workers that this one reclaimed.
  leases_reclaimed bigint not null,
  -- Of a worker: see `CopyReport`.
  local_copy jsonb
);

-- The last audit of each depth.
create table audits (
  deep boolean primary key,
  ended_at timestamptz not null,
  violations bigint not null,
  -- Names of the checks that failed.
  failed text[] not null
);

-- Every move to another state ends the wait, and the pace is that of the present run: no statement can forget it.
create function note_state_since() returns trigger language plpgsql as $$
begin
  if old.state = 'running' then
    new.ran_seconds := old.ran_seconds + extract(epoch from clock_timestamp() - old.state_since);
  elsif new.state = 'running' then
    new.paced_since := clock_timestamp();
    new.paced_rows := 0;
  end if;
  new.state_since := clock_timestamp();
  new.waits_for := null;
  return new;
end $$;

create trigger batches_state_since
  before update of state on batches
  for each row when (old.state is distinct from new.state) execute function note_state_since();

-- For every column that the JSON of a list or an export shows, except those that no statement changes.
create function raise_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end $$;

create trigger batches_revision
  before update on batches
  for each row when (
    (old.state, old.reason, old.error, old.waits_for, old.rows_total, old.matched, old.no_match, old.ambiguous,
      old.invalid, old.suppressed, old.duplicate, old.error_rows, old.not_processed, old.owned, old.owned_found, old.credits_charged,
      old.credits_reserved, old.started_at, old.finished_at, old.quote, old.name, old.mapping, old.dialect,
      old.fields, old.default_region, old.country, old.max_credits, old.dedupe, old.require_agreement, old.match, old.min_probability,
      old.required, old.not_as_xlsx, old.files_deleted_at, old.filter, old.key_id)
    is distinct from
    (new.state, new.reason, new.error, new.waits_for, new.rows_total, new.matched, new.no_match, new.ambiguous,
      new.invalid, new.suppressed, new.duplicate, new.error_rows, new.not_processed, new.owned, new.owned_found, new.credits_charged,
      new.credits_reserved, new.started_at, new.finished_at, new.quote, new.name, new.mapping, new.dialect,
      new.fields, new.default_region, new.country, new.max_credits, new.dedupe, new.require_agreement, new.match, new.min_probability,
      new.required, new.not_as_xlsx, new.files_deleted_at, new.filter, new.key_id))
  execute function raise_revision();

-- Number of changes of each do-not-contact list. A search on a replica compares its number there with the one in
-- this database: a recent change of the list holds at once. By triggers, so that no change of a list can forget
-- it.
create table do_not_contact_versions (
  account_id uuid not null references accounts,
  live boolean not null,
  version bigint not null,
  entries bigint not null default 0,
  primary key (account_id, live)
);

create function count_do_not_contact() returns trigger language plpgsql as $$
begin
  insert into do_not_contact_versions (account_id, live, version, entries)
  select account_id, live, 1, count(*) * case tg_op when 'INSERT' then 1 when 'DELETE' then -1 else 0 end
  from changed
  group by account_id, live order by account_id, live
  on conflict (account_id, live) do update
    set version = do_not_contact_versions.version + 1,
      entries = do_not_contact_versions.entries + excluded.entries;
  return null;
end $$;

create trigger do_not_contact_added after insert on do_not_contact
  referencing new table as changed
  for each statement execute function count_do_not_contact();

create trigger do_not_contact_removed after delete on do_not_contact
  referencing old table as changed
  for each statement execute function count_do_not_contact();

-- A line that changes its account (which no statement does) counts for the new one.
create trigger do_not_contact_changed after update on do_not_contact
  referencing new table as changed
  for each statement execute function count_do_not_contact();

-- Returns true when a key, by its row, is neither revoked nor expired. By the clock and not by the start of the
-- transaction: a statement that waited for a lock checks the time after its wait.
create function is_valid(key api_keys) returns boolean volatile language sql
  as $$ select coalesce(least(key.revoked_at, key.expires_at) > clock_timestamp(), true) $$;

create function count_by_itself() returns trigger language plpgsql as $$
begin
  new.requests_of := coalesce(new.requests_of, new.id);
  new.rows_of := coalesce(new.rows_of, new.id);
  new.credits_of := coalesce(new.credits_of, new.id);
  return new;
end $$;

create trigger api_keys_counters before insert on api_keys
  for each row execute function count_by_itself();

-- The limit of a key is in its own row of `key_budgets`, the amount spent in the row of `credits_of`. Returns the
-- part of a row that counts today. A transaction that began before midnight may meet a row of the next day: it
-- counts on that day and never resets it.
create function credits_taken_today(counter key_budgets) returns bigint stable language sql
  as $$ select case when counter.day >= utc_today()
    then counter.spent + counter.spent_by_batches else 0 end $$;

-- Keys whose rows per minute are used up, and the time at which the next batches of each are tried. Without a
-- foreign key, whose check would lock the key after the batch.
create table key_waits (
  key_id uuid primary key,
  claim_after timestamptz not null
);
create index key_waits_due on key_waits (claim_after);

