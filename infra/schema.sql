-- The schema that the migrations of infra/migrations add up to. Written by `npm run schema`; a test
-- holds it equal. The schema graph_test is the same as graph.

create extension btree_gin schema public;

create table public.accounts (
  id uuid not null,
  name text not null,
  email text,
  created_at timestamp with time zone default now() not null,
  password_hash text,
  constraint accounts_password_email CHECK (((password_hash IS NULL) OR (email IS NOT NULL))),
  constraint accounts_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX accounts_sign_in ON public.accounts USING btree (lower(email)) WHERE (password_hash IS NOT NULL);

create table public.api_keys (
  id uuid not null,
  account_id uuid not null,
  mode text not null,
  prefix text not null,
  key_sha256 bytea not null,
  scopes text[] not null,
  requests_per_minute integer default 60 not null,
  requests_per_day integer default 10000 not null,
  rows_per_minute integer,
  created_at timestamp with time zone default now() not null,
  revoked_at timestamp with time zone,
  name text,
  expires_at timestamp with time zone,
  is_console boolean default false not null,
  requests_of uuid not null,
  rows_of uuid not null,
  credits_of uuid not null,
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint api_keys_credits_of_fkey FOREIGN KEY (credits_of) REFERENCES public.api_keys(id),
  constraint api_keys_key_sha256_key UNIQUE (key_sha256),
  constraint api_keys_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_requests_of_fkey FOREIGN KEY (requests_of) REFERENCES public.api_keys(id),
  constraint api_keys_requests_per_day_check CHECK ((requests_per_day > 0)),
  constraint api_keys_requests_per_minute_check CHECK ((requests_per_minute > 0)),
  constraint api_keys_rows_of_fkey FOREIGN KEY (rows_of) REFERENCES public.api_keys(id),
  constraint api_keys_rows_per_minute_check CHECK ((rows_per_minute > 0))
);
CREATE INDEX api_keys_account ON public.api_keys USING btree (account_id);
CREATE UNIQUE INDEX api_keys_console ON public.api_keys USING btree (account_id, mode) WHERE (is_console AND (revoked_at IS NULL));
CREATE TRIGGER api_keys_counters BEFORE INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.count_by_itself();
CREATE TRIGGER api_keys_webhook_event AFTER UPDATE OF revoked_at ON public.api_keys FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL) AND (NOT new.is_console))) EXECUTE FUNCTION public.record_key_event();

create table public.audits (
  deep boolean not null,
  ended_at timestamp with time zone not null,
  violations bigint not null,
  failed text[] not null,
  constraint audits_pkey PRIMARY KEY (deep)
);

create table public.batch_records (
  batch_id uuid not null,
  record_id bigint not null,
  "row" integer not null,
  constraint batch_records_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE,
  constraint batch_records_pkey PRIMARY KEY (batch_id, record_id)
);

create table public.batches (
  id uuid not null,
  account_id uuid not null,
  key_id uuid not null,
  live boolean not null,
  name text not null,
  state text default 'created'::text not null,
  reason text,
  error jsonb,
  operation text not null,
  mapping jsonb not null,
  dialect jsonb not null,
  fields text[],
  default_region text,
  country text,
  max_credits bigint,
  hold boolean default false not null,
  dedupe boolean default false not null,
  match text default 'exact'::text not null,
  min_probability double precision default 0.95 not null,
  require_agreement boolean default false not null,
  required text[],
  rerun_of uuid,
  rerun_rows integer[],
  rerun_records bigint[],
  quote jsonb,
  report jsonb,
  upload_key text,
  upload_bytes bigint,
  canonical_key text,
  width integer,
  chunks_total integer,
  chunks_done integer default 0 not null,
  rows_total integer,
  blank_lines integer,
  matched integer default 0 not null,
  no_match integer default 0 not null,
  ambiguous integer default 0 not null,
  invalid integer default 0 not null,
  suppressed integer default 0 not null,
  duplicate integer default 0 not null,
  error_rows integer default 0 not null,
  not_processed integer default 0 not null,
  owned integer default 0 not null,
  credits_charged bigint default 0 not null,
  credits_reserved bigint default 0 not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  files_deleted_at timestamp with time zone,
  kind text default 'list'::text not null,
  filter text,
  names_people boolean,
  format text,
  gzip boolean,
  max_results integer,
  schedule_id uuid,
  only_new boolean default false not null,
  owned_found integer default 0 not null,
  state_since timestamp with time zone default now() not null,
  paced_since timestamp with time zone,
  paced_rows double precision default 0 not null,
  ran_seconds double precision default 0 not null,
  revision integer default 1 not null,
  trace_parent text,
  waits_for text,
  claim_after timestamp with time zone,
  claimable_account uuid generated always as (
CASE
    WHEN ((state = ANY (ARRAY['queued'::text, 'running'::text, 'cancelling'::text])) AND (chunks_total IS NOT NULL) AND (waits_for IS NULL)) THEN account_id
    ELSE NULL::uuid
END) stored,
  job_attempts integer default 0 not null,
  job_after timestamp with time zone,
  job_lease_until timestamp with time zone,
  object_missing_since timestamp with time zone,
  stored_bytes bigint default 0 not null,
  stored_bytes_open bigint default 0 not null,
  not_as_xlsx text,
  upload_crc32 bigint,
  upload_head_crc32 bigint,
  canonical_bytes bigint,
  canonical_crc32 bigint,
  objects_checked_at timestamp with time zone,
  objects_damaged integer default 0 not null,
  constraint batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint batches_check CHECK (((owned >= 0) AND (owned <= matched))),
  constraint batches_check1 CHECK (((error IS NOT NULL) = (state = 'failed'::text))),
  constraint batches_check10 CHECK (((kind = 'export'::text) = ((format IS NOT NULL) AND (gzip IS NOT NULL) AND (names_people IS NOT NULL)))),
  constraint batches_check11 CHECK (((filter IS NULL) OR (kind = 'export'::text))),
  constraint batches_check12 CHECK (((filter IS NOT NULL) OR (kind = 'list'::text) OR (files_deleted_at IS NOT NULL))),
  constraint batches_check13 CHECK (((kind = 'export'::text) OR (max_results IS NULL))),
  constraint batches_check14 CHECK (((kind = 'export'::text) OR ((schedule_id IS NULL) AND (NOT only_new)))),
  constraint batches_check2 CHECK (((rerun_records IS NULL) OR ((rerun_rows IS NOT NULL) AND (cardinality(rerun_records) = cardinality(rerun_rows))))),
  constraint batches_check3 CHECK (((schedule_id IS NOT NULL) OR (NOT only_new))),
  constraint batches_check4 CHECK (((waits_for <> 'time'::text) OR (claim_after IS NOT NULL))),
  constraint batches_check5 CHECK (((max_credits IS NULL) OR ((credits_charged + credits_reserved) <= max_credits))),
  constraint batches_check6 CHECK (((((((((matched + no_match) + ambiguous) + invalid) + suppressed) + duplicate) + error_rows) + not_processed) <= rows_total)),
  constraint batches_check7 CHECK (((state <> ALL (ARRAY['queued'::text, 'running'::text, 'paused'::text, 'finalizing'::text, 'completed'::text])) OR ((canonical_key IS NOT NULL) AND (rows_total IS NOT NULL) AND (chunks_total IS NOT NULL) AND (width IS NOT NULL)))),
  constraint batches_check8 CHECK (((state <> 'completed'::text) OR ((chunks_done = chunks_total) AND (credits_reserved = 0) AND ((((((((matched + no_match) + ambiguous) + invalid) + suppressed) + duplicate) + error_rows) + not_processed) = rows_total)))),
  constraint batches_check9 CHECK (((kind = 'list'::text) = ((upload_key IS NOT NULL) AND (upload_bytes IS NOT NULL)))),
  constraint batches_credits_reserved_check CHECK ((credits_reserved >= 0)),
  constraint batches_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint batches_kind_check CHECK ((kind = ANY (ARRAY['list'::text, 'export'::text]))),
  constraint batches_match_check CHECK ((match = ANY (ARRAY['exact'::text, 'likely'::text]))),
  constraint batches_max_credits_check CHECK ((max_credits >= 0)),
  constraint batches_max_results_check CHECK ((max_results > 0)),
  constraint batches_min_probability_check CHECK (((min_probability >= (0.5)::double precision) AND (min_probability <= (1)::double precision))),
  constraint batches_pkey PRIMARY KEY (id),
  constraint batches_reason_known CHECK (
CASE
    WHEN (state = 'paused'::text) THEN ((reason IS NOT NULL) AND ((reason = ANY (ARRAY['insufficient_credits'::text, 'key_budget'::text, 'user'::text])) OR ((reason = 'max_credits'::text) AND (kind = 'list'::text))))
    WHEN (state = ANY (ARRAY['cancelling'::text, 'cancelled'::text])) THEN ((reason IS NULL) OR (reason = 'expired'::text))
    ELSE (reason IS NULL)
END),
  constraint batches_rerun_of_fkey FOREIGN KEY (rerun_of) REFERENCES public.batches(id) ON DELETE SET NULL,
  constraint batches_state_check CHECK ((state = ANY (ARRAY['created'::text, 'validating'::text, 'ready'::text, 'queued'::text, 'running'::text, 'paused'::text, 'finalizing'::text, 'completed'::text, 'cancelling'::text, 'cancelled'::text, 'failed'::text]))),
  constraint batches_stored_bytes_check CHECK ((stored_bytes >= 0)),
  constraint batches_waits_for_check CHECK ((waits_for = ANY (ARRAY['time'::text, 'key'::text])))
);
CREATE INDEX batches_claimable ON public.batches USING btree (claimable_account, created_at, id) WHERE (claimable_account IS NOT NULL);
CREATE INDEX batches_files_deleted ON public.batches USING btree (files_deleted_at) WHERE (files_deleted_at IS NOT NULL);
CREATE INDEX batches_job_held ON public.batches USING btree (account_id) WHERE (job_lease_until IS NOT NULL);
CREATE INDEX batches_kept ON public.batches USING btree (created_at) WHERE (files_deleted_at IS NULL);
CREATE INDEX batches_not_ended ON public.batches USING btree (state, account_id) WHERE (state <> ALL (ARRAY['completed'::text, 'cancelled'::text, 'failed'::text]));
CREATE INDEX batches_objects_checked ON public.batches USING btree (COALESCE(objects_checked_at, created_at)) WHERE (files_deleted_at IS NULL);
CREATE INDEX batches_of_kind ON public.batches USING btree (account_id, kind, live, created_at DESC, id DESC);
CREATE INDEX batches_reruns ON public.batches USING btree (rerun_of) WHERE (rerun_of IS NOT NULL);
CREATE INDEX batches_short_of_credits ON public.batches USING btree (account_id, key_id, operation, reason) WHERE ((state = 'paused'::text) AND (reason = ANY (ARRAY['insufficient_credits'::text, 'key_budget'::text])));
CREATE INDEX batches_stored ON public.batches USING btree (account_id, finished_at) WHERE (files_deleted_at IS NULL);
CREATE INDEX batches_to_finish ON public.batches USING btree (account_id, created_at) WHERE ((state = ANY (ARRAY['finalizing'::text, 'cancelling'::text])) AND (chunks_total IS NOT NULL));
CREATE INDEX batches_to_quote ON public.batches USING btree (account_id, created_at) WHERE ((state = 'ready'::text) AND ((quote ->> 'state'::text) = 'running'::text));
CREATE INDEX batches_to_select ON public.batches USING btree (account_id, created_at) WHERE ((kind = 'export'::text) AND (state = ANY (ARRAY['created'::text, 'validating'::text])) AND (chunks_total IS NULL));
CREATE INDEX batches_to_split ON public.batches USING btree (account_id, created_at) WHERE ((kind = 'list'::text) AND (state = ANY (ARRAY['created'::text, 'validating'::text])) AND (chunks_total IS NULL));
CREATE INDEX batches_waiting_for_key ON public.batches USING btree (key_id, created_at, id) WHERE (waits_for = 'key'::text);
CREATE INDEX batches_waiting_for_time ON public.batches USING btree (claim_after) WHERE (waits_for = 'time'::text);
CREATE TRIGGER batches_revision BEFORE UPDATE ON public.batches FOR EACH ROW WHEN (((((((((((((((((((((((((((((((((((((old.state IS DISTINCT FROM new.state) OR (old.reason IS DISTINCT FROM new.reason)) OR (old.error IS DISTINCT FROM new.error)) OR (old.waits_for IS DISTINCT FROM new.waits_for)) OR (old.rows_total IS DISTINCT FROM new.rows_total)) OR (old.matched IS DISTINCT FROM new.matched)) OR (old.no_match IS DISTINCT FROM new.no_match)) OR (old.ambiguous IS DISTINCT FROM new.ambiguous)) OR (old.invalid IS DISTINCT FROM new.invalid)) OR (old.suppressed IS DISTINCT FROM new.suppressed)) OR (old.duplicate IS DISTINCT FROM new.duplicate)) OR (old.error_rows IS DISTINCT FROM new.error_rows)) OR (old.not_processed IS DISTINCT FROM new.not_processed)) OR (old.owned IS DISTINCT FROM new.owned)) OR (old.owned_found IS DISTINCT FROM new.owned_found)) OR (old.credits_charged IS DISTINCT FROM new.credits_charged)) OR (old.credits_reserved IS DISTINCT FROM new.credits_reserved)) OR (old.started_at IS DISTINCT FROM new.started_at)) OR (old.finished_at IS DISTINCT FROM new.finished_at)) OR (old.quote IS DISTINCT FROM new.quote)) OR (old.name IS DISTINCT FROM new.name)) OR (old.mapping IS DISTINCT FROM new.mapping)) OR (old.dialect IS DISTINCT FROM new.dialect)) OR (old.fields IS DISTINCT FROM new.fields)) OR (old.default_region IS DISTINCT FROM new.default_region)) OR (old.country IS DISTINCT FROM new.country)) OR (old.max_credits IS DISTINCT FROM new.max_credits)) OR (old.dedupe IS DISTINCT FROM new.dedupe)) OR (old.require_agreement IS DISTINCT FROM new.require_agreement)) OR (old.match IS DISTINCT FROM new.match)) OR (old.min_probability IS DISTINCT FROM new.min_probability)) OR (old.required IS DISTINCT FROM new.required)) OR (old.not_as_xlsx IS DISTINCT FROM new.not_as_xlsx)) OR (old.files_deleted_at IS DISTINCT FROM new.files_deleted_at)) OR (old.filter IS DISTINCT FROM new.filter)) OR (old.key_id IS DISTINCT FROM new.key_id))) EXECUTE FUNCTION public.raise_revision();
CREATE TRIGGER batches_state_since BEFORE UPDATE OF state ON public.batches FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.note_state_since();
CREATE TRIGGER batches_stored_added AFTER INSERT ON public.batches REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.sum_stored_added();
CREATE TRIGGER batches_stored_changed AFTER UPDATE ON public.batches REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.sum_stored_changed();
CREATE TRIGGER batches_webhook_event AFTER UPDATE OF state, reason ON public.batches FOR EACH ROW WHEN (((new.state = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'paused'::text])) AND ((old.state <> new.state) OR (old.reason IS DISTINCT FROM new.reason)))) EXECUTE FUNCTION public.record_batch_event();

create table public.chunks (
  id bigint generated always as identity not null,
  batch_id uuid not null,
  number integer not null,
  byte_from bigint not null,
  byte_to bigint not null,
  first_row integer not null,
  first_line integer not null,
  rows integer not null,
  rows_done integer default 0 not null,
  parts integer default 0 not null,
  state text default 'pending'::text not null,
  epoch integer default 0 not null,
  dispatched_at timestamp with time zone,
  lease_until timestamp with time zone,
  run_after timestamp with time zone,
  failures integer default 0 not null,
  part_rows_max integer,
  crc32 bigint not null,
  constraint chunks_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE,
  constraint chunks_batch_id_number_key UNIQUE (batch_id, number),
  constraint chunks_check CHECK (((rows_done >= 0) AND (rows_done <= rows))),
  constraint chunks_check1 CHECK (((lease_until IS NOT NULL) = (state = 'leased'::text))),
  constraint chunks_check2 CHECK (((state = 'done'::text) = (rows_done = rows))),
  constraint chunks_part_rows_max_check CHECK ((part_rows_max > 0)),
  constraint chunks_pkey PRIMARY KEY (id),
  constraint chunks_rows_check CHECK ((rows > 0)),
  constraint chunks_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'dispatched'::text, 'leased'::text, 'done'::text])))
);
CREATE INDEX chunks_in_flight ON public.chunks USING btree (batch_id) WHERE (state = ANY (ARRAY['dispatched'::text, 'leased'::text]));
CREATE INDEX chunks_open ON public.chunks USING btree (batch_id, state, number) WHERE (state <> 'done'::text);

create table public.day_counts (
  owner uuid not null,
  day date not null,
  requests integer not null,
  constraint day_counts_pkey PRIMARY KEY (owner, day)
);
alter table public.day_counts set (fillfactor=50);

create table public.discarded_objects (
  key text not null,
  since timestamp with time zone default now() not null,
  constraint discarded_objects_pkey PRIMARY KEY (key)
);
CREATE INDEX discarded_objects_since ON public.discarded_objects USING btree (since);

create table public.do_not_contact (
  id bigint generated always as identity not null,
  account_id uuid not null,
  live boolean not null,
  email_sha256 bytea,
  domain text,
  created_at timestamp with time zone default now() not null,
  constraint do_not_contact_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint do_not_contact_account_id_live_email_sha256_domain_key UNIQUE NULLS NOT DISTINCT (account_id, live, email_sha256, domain),
  constraint do_not_contact_check CHECK (((email_sha256 IS NULL) <> (domain IS NULL))),
  constraint do_not_contact_pkey PRIMARY KEY (id)
);
CREATE INDEX do_not_contact_account ON public.do_not_contact USING btree (account_id, live, id);
CREATE TRIGGER do_not_contact_added AFTER INSERT ON public.do_not_contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_do_not_contact();
CREATE TRIGGER do_not_contact_changed AFTER UPDATE ON public.do_not_contact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_do_not_contact();
CREATE TRIGGER do_not_contact_removed AFTER DELETE ON public.do_not_contact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_do_not_contact();

create table public.do_not_contact_versions (
  account_id uuid not null,
  live boolean not null,
  version bigint not null,
  entries bigint default 0 not null,
  constraint do_not_contact_versions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint do_not_contact_versions_pkey PRIMARY KEY (account_id, live)
);

create table public.idempotency_keys (
  account_id uuid not null,
  live boolean not null,
  method text not null,
  path text not null,
  key text not null,
  claim uuid not null,
  claimed_until timestamp with time zone not null,
  request_sha256 bytea,
  status integer,
  body json,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint idempotency_keys_check CHECK ((((status IS NULL) = (request_sha256 IS NULL)) AND ((status IS NULL) = (body IS NULL)))),
  constraint idempotency_keys_pkey PRIMARY KEY (account_id, live, method, path, key)
);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

create table public.import_runs (
  id uuid not null,
  account_id uuid not null,
  kind text not null,
  state text not null,
  files jsonb default '[]'::jsonb not null,
  options jsonb default '{}'::jsonb not null,
  found jsonb,
  counts jsonb,
  reasons jsonb,
  import_id bigint,
  told bigint[] default '{}'::bigint[] not null,
  step text,
  step_count bigint,
  problem jsonb,
  epoch integer default 0 not null,
  attempts integer default 0 not null,
  lease_until timestamp with time zone,
  claim_after timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  files_deleted_at timestamp with time zone,
  constraint import_runs_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint import_runs_kind_check CHECK ((kind = ANY (ARRAY['import'::text, 'undo'::text]))),
  constraint import_runs_pkey PRIMARY KEY (id),
  constraint import_runs_state_check CHECK ((state = ANY (ARRAY['receiving'::text, 'examining'::text, 'ready'::text, 'counting'::text, 'importing'::text, 'undoing'::text, 'done'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX import_runs_account ON public.import_runs USING btree (account_id, id);
CREATE INDEX import_runs_open ON public.import_runs USING btree (created_at) WHERE (finished_at IS NULL);

create table public.installation (
  id uuid default gen_random_uuid() not null,
  is_only boolean default true not null,
  backed_up_at timestamp with time zone,
  constraint installation_is_only_check CHECK (is_only),
  constraint installation_is_only_key UNIQUE (is_only),
  constraint installation_pkey PRIMARY KEY (id)
);

create table public.key_budgets (
  key_id uuid not null,
  credits_per_day bigint,
  day date default '1970-01-01'::date not null,
  spent bigint default 0 not null,
  spent_by_batches bigint default 0 not null,
  constraint key_budgets_credits_per_day_check CHECK ((credits_per_day > 0)),
  constraint key_budgets_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint key_budgets_pkey PRIMARY KEY (key_id),
  constraint key_budgets_spent_by_batches_check CHECK ((spent_by_batches >= 0)),
  constraint key_budgets_spent_check CHECK ((spent >= 0))
);
alter table public.key_budgets set (fillfactor=50);

create table public.key_uses (
  key_id uuid not null,
  used_at timestamp with time zone not null,
  constraint key_uses_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint key_uses_pkey PRIMARY KEY (key_id)
);
alter table public.key_uses set (fillfactor=50);

create table public.key_waits (
  key_id uuid not null,
  claim_after timestamp with time zone not null,
  constraint key_waits_pkey PRIMARY KEY (key_id)
);
CREATE INDEX key_waits_due ON public.key_waits USING btree (claim_after);

create table public.ledger_entries (
  id bigint generated always as identity not null,
  account_id uuid not null,
  reference text not null,
  kind text not null,
  amount bigint not null,
  operation text,
  units bigint,
  batch_id uuid,
  key_id uuid,
  created_at timestamp with time zone default now() not null,
  constraint ledger_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint ledger_entries_account_id_reference_key UNIQUE (account_id, reference),
  constraint ledger_entries_amount_check CHECK ((amount <> 0)),
  constraint ledger_entries_check CHECK (((kind = 'charge'::text) = (amount < 0))),
  constraint ledger_entries_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'charge'::text, 'refund'::text]))),
  constraint ledger_entries_pkey PRIMARY KEY (id)
);
CREATE INDEX ledger_entries_account_time ON public.ledger_entries USING btree (account_id, created_at, id);
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION public.refuse_ledger_change();
CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_ledger_change();

create table public.list_mappings (
  account_id uuid not null,
  live boolean not null,
  operation text not null,
  header_sha256 bytea not null,
  mapping jsonb not null,
  used_at timestamp with time zone default now() not null,
  constraint list_mappings_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint list_mappings_pkey PRIMARY KEY (account_id, live, operation, header_sha256)
);

create table public.migrations (
  name text not null,
  applied_at timestamp with time zone default now() not null,
  sha256 text not null,
  runs_with text,
  constraint migrations_pkey PRIMARY KEY (name)
);

create table public.named_mappings (
  id uuid not null,
  account_id uuid not null,
  live boolean not null,
  operation text not null,
  name text not null,
  columns jsonb not null,
  created_at timestamp with time zone default now() not null,
  constraint named_mappings_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint named_mappings_account_id_live_operation_name_key UNIQUE (account_id, live, operation, name),
  constraint named_mappings_pkey PRIMARY KEY (id)
);

create table public.owned_people (
  account_id uuid not null,
  kind smallint not null,
  person_id bigint not null,
  charge_id bigint not null,
  paid_at timestamp with time zone not null,
  constraint owned_people_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint owned_people_kind_check CHECK ((kind = ANY (ARRAY[1, 2]))),
  constraint owned_people_pkey PRIMARY KEY (account_id, kind, person_id)
);
CREATE INDEX owned_people_charge ON public.owned_people USING btree (charge_id);

create table public.page_hints (
  account_id uuid not null,
  live boolean not null,
  filter_sha256 bytea not null,
  "position" bigint not null,
  last_id bigint not null,
  last_key text,
  expires_at timestamp with time zone not null,
  constraint page_hints_pkey PRIMARY KEY (account_id, live, filter_sha256, "position"),
  constraint page_hints_position_check CHECK (("position" > 0))
);
CREATE INDEX page_hints_age ON public.page_hints USING btree (expires_at);
alter table public.page_hints set unlogged;

create table public.parts (
  batch_id uuid not null,
  chunk_number integer not null,
  number integer not null,
  object_key text not null,
  rows integer not null,
  bytes bigint not null,
  report jsonb default '{}'::jsonb not null,
  suppression_number bigint,
  committed_at timestamp with time zone default now() not null,
  row_bytes_max integer not null,
  crc32 bigint not null,
  ids_bytes bigint,
  ids_crc32 bigint,
  live boolean default true not null,
  constraint parts_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE,
  constraint parts_check CHECK (((ids_bytes IS NULL) = (ids_crc32 IS NULL))),
  constraint parts_object_key_key UNIQUE (object_key),
  constraint parts_pkey PRIMARY KEY (batch_id, chunk_number, number),
  constraint parts_rows_check CHECK ((rows > 0))
);
CREATE INDEX parts_behind ON public.parts USING btree (live, suppression_number) WHERE (suppression_number IS NOT NULL);

create table public.processes (
  id uuid not null,
  kind text not null,
  host text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  leases_reclaimed bigint not null,
  local_copy jsonb,
  constraint processes_kind_check CHECK ((kind = ANY (ARRAY['api'::text, 'worker'::text]))),
  constraint processes_pkey PRIMARY KEY (id)
);
alter table public.processes set unlogged;

create table public.published_copies (
  id uuid default gen_random_uuid() not null,
  number bigint not null,
  token uuid not null,
  wiped_to bigint not null,
  lease_expires_at timestamp with time zone,
  published_at timestamp with time zone,
  manifest text,
  bytes bigint,
  pieces text[],
  constraint published_copies_pkey PRIMARY KEY (id),
  constraint published_copies_whole CHECK (((lease_expires_at IS NULL) = (num_nulls(published_at, manifest, bytes, pieces) = 0)))
);
CREATE UNIQUE INDEX published_copies_one_of_each ON public.published_copies USING btree (((lease_expires_at IS NULL)));
alter table public.published_copies set unlogged;

create table public.rate_buckets (
  owner uuid not null,
  name text not null,
  full_at timestamp with time zone not null,
  constraint rate_buckets_pkey PRIMARY KEY (owner, name)
);
alter table public.rate_buckets set (fillfactor=50);

create table public.reservations (
  id bigint generated always as identity not null,
  account_id uuid not null,
  batch_id uuid not null,
  chunk_id bigint not null,
  epoch integer not null,
  amount bigint not null,
  state text default 'open'::text not null,
  created_at timestamp with time zone default now() not null,
  ended_at timestamp with time zone,
  budget_day date,
  constraint reservations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint reservations_amount_check CHECK ((amount > 0)),
  constraint reservations_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id),
  constraint reservations_check CHECK (((ended_at IS NOT NULL) = (state <> 'open'::text))),
  constraint reservations_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES public.chunks(id),
  constraint reservations_pkey PRIMARY KEY (id),
  constraint reservations_state_check CHECK ((state = ANY (ARRAY['open'::text, 'settled'::text, 'voided'::text])))
);
CREATE UNIQUE INDEX reservations_open ON public.reservations USING btree (chunk_id) WHERE (state = 'open'::text);
CREATE INDEX reservations_open_account ON public.reservations USING btree (account_id) WHERE (state = 'open'::text);

create table public.saved_searches (
  id uuid not null,
  account_id uuid not null,
  live boolean not null,
  name text not null,
  filter text not null,
  created_at timestamp with time zone default now() not null,
  constraint saved_searches_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint saved_searches_account_id_live_name_key UNIQUE (account_id, live, name),
  constraint saved_searches_pkey PRIMARY KEY (id)
);

create table public.schedule_deliveries (
  schedule_id uuid not null,
  person_id bigint not null,
  constraint schedule_deliveries_pkey PRIMARY KEY (schedule_id, person_id)
);

create table public.schedule_runs (
  schedule_id uuid not null,
  slot timestamp with time zone not null,
  state text not null,
  reason text,
  batch_id uuid,
  created_at timestamp with time zone default now() not null,
  constraint schedule_runs_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE SET NULL,
  constraint schedule_runs_check CHECK (((reason IS NOT NULL) = (state <> 'started'::text))),
  constraint schedule_runs_pkey PRIMARY KEY (schedule_id, slot),
  constraint schedule_runs_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) ON DELETE CASCADE,
  constraint schedule_runs_state_check CHECK ((state = ANY (ARRAY['started'::text, 'skipped'::text, 'failed'::text])))
);
CREATE TRIGGER schedule_runs_webhook_event AFTER INSERT ON public.schedule_runs FOR EACH ROW WHEN ((new.state <> 'started'::text)) EXECUTE FUNCTION public.record_schedule_event();

create table public.schedules (
  id uuid not null,
  account_id uuid not null,
  key_id uuid not null,
  live boolean not null,
  name text not null,
  cron text not null,
  time_zone text not null,
  filter text not null,
  fields text[],
  format text not null,
  mode text not null,
  max_results integer,
  max_credits bigint,
  enabled boolean not null,
  next_run_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint schedules_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint schedules_check CHECK (((next_run_at IS NOT NULL) = enabled)),
  constraint schedules_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint schedules_max_credits_check CHECK ((max_credits >= 0)),
  constraint schedules_max_results_check CHECK ((max_results > 0)),
  constraint schedules_mode_check CHECK ((mode = ANY (ARRAY['all'::text, 'new'::text]))),
  constraint schedules_pkey PRIMARY KEY (id)
);
CREATE INDEX schedules_account ON public.schedules USING btree (account_id, live, created_at DESC, id DESC);
CREATE INDEX schedules_due ON public.schedules USING btree (next_run_at) WHERE enabled;

create table public.sessions (
  token_sha256 bytea not null,
  account_id uuid not null,
  key_id uuid not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint sessions_pkey PRIMARY KEY (token_sha256)
);
CREATE INDEX sessions_account ON public.sessions USING btree (account_id);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);

create table public.sign_in_links (
  token_sha256 bytea not null,
  account_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint sign_in_links_pkey PRIMARY KEY (token_sha256)
);

create table public.stored_sums (
  account_id uuid not null,
  bytes bigint not null,
  batches bigint not null,
  constraint stored_sums_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint stored_sums_pkey PRIMARY KEY (account_id)
);

create table public.uploads (
  id uuid not null,
  account_id uuid not null,
  live boolean not null,
  key text not null,
  created_at timestamp with time zone default now() not null,
  used_at timestamp with time zone,
  constraint uploads_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint uploads_key_key UNIQUE (key),
  constraint uploads_pkey PRIMARY KEY (id)
);
CREATE INDEX uploads_age ON public.uploads USING btree (created_at);
CREATE INDEX uploads_unused ON public.uploads USING btree (account_id) WHERE (used_at IS NULL);

create table public.wallets (
  account_id uuid not null,
  balance bigint default 0 not null,
  reserved bigint default 0 not null,
  watched_below bigint,
  owned_days integer default 0 not null,
  constraint wallets_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint wallets_check CHECK (((0 <= reserved) AND (reserved <= balance))),
  constraint wallets_owned_days_check CHECK (((owned_days >= 0) AND (owned_days <= 3650))),
  constraint wallets_pkey PRIMARY KEY (account_id)
);
CREATE TRIGGER wallets_webhook_event AFTER UPDATE OF balance ON public.wallets FOR EACH ROW WHEN (((new.balance < old.balance) AND (new.balance < new.watched_below))) EXECUTE FUNCTION public.record_credits_event();

create table public.webhook_deliveries (
  id uuid default gen_random_uuid() not null,
  webhook_id uuid not null,
  event_id uuid not null,
  type text not null,
  payload json not null,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  round_attempts integer default 0 not null,
  due_at timestamp with time zone default now() not null,
  lease_until timestamp with time zone,
  attempted_at timestamp with time zone,
  response_status integer,
  error text,
  duration_ms integer,
  created_at timestamp with time zone default now() not null,
  delivered_at timestamp with time zone,
  constraint webhook_deliveries_check CHECK (((delivered_at IS NOT NULL) = (state = 'delivered'::text))),
  constraint webhook_deliveries_check1 CHECK (((lease_until IS NULL) OR (state = 'pending'::text))),
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_deliveries_webhook_id_event_id_key UNIQUE (webhook_id, event_id),
  constraint webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_age ON public.webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, due_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_leased ON public.webhook_deliveries USING btree (webhook_id) WHERE (lease_until IS NOT NULL);
CREATE INDEX webhook_deliveries_page ON public.webhook_deliveries USING btree (webhook_id, created_at DESC, id DESC);

create table public.webhooks (
  id uuid not null,
  account_id uuid not null,
  live boolean not null,
  url text not null,
  events text[] not null,
  credits_low_threshold bigint not null,
  enabled boolean not null,
  disabled_reason text,
  failing_since timestamp with time zone,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint webhooks_check CHECK (((previous_secret IS NULL) = (previous_until IS NULL))),
  constraint webhooks_check1 CHECK (((NOT enabled) OR (disabled_reason IS NULL))),
  constraint webhooks_credits_low_threshold_check CHECK ((credits_low_threshold > 0)),
  constraint webhooks_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text]))),
  constraint webhooks_events_check CHECK ((cardinality(events) > 0)),
  constraint webhooks_pkey PRIMARY KEY (id)
);
CREATE INDEX webhooks_account ON public.webhooks USING btree (account_id, live, created_at DESC, id DESC);

CREATE OR REPLACE FUNCTION public.count_by_itself()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.requests_of := coalesce(new.requests_of, new.id);
  new.rows_of := coalesce(new.rows_of, new.id);
  new.credits_of := coalesce(new.credits_of, new.id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.count_do_not_contact()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into do_not_contact_versions (account_id, live, version, entries)
  select account_id, live, 1, count(*) * case tg_op when 'INSERT' then 1 when 'DELETE' then -1 else 0 end
  from changed
  group by account_id, live order by account_id, live
  on conflict (account_id, live) do update
    set version = do_not_contact_versions.version + 1,
      entries = do_not_contact_versions.entries + excluded.entries;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.credits_taken_today(counter public.key_budgets)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$ select case when counter.day >= utc_today()
    then counter.spent + counter.spent_by_batches else 0 end $function$;

CREATE OR REPLACE FUNCTION public.event_id_of(p_type text, p_subject text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select overlay(overlay(md5(p_type || ' ' || p_subject) placing '8' from 13) placing 'a' from 17)::uuid
$function$;

CREATE OR REPLACE FUNCTION public.is_valid(key public.api_keys)
 RETURNS boolean
 LANGUAGE sql
AS $function$ select key.revoked_at is null and coalesce(key.expires_at > clock_timestamp(), true) $function$;

CREATE OR REPLACE FUNCTION public.iso_time(p_time timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

CREATE OR REPLACE FUNCTION public.lease_requests(p_owner uuid, p_day date, p_per_day integer, p_wanted integer, OUT granted integer, OUT total integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  insert into day_counts (owner, day, requests) values (p_owner, p_day, 0) on conflict do nothing;
  select requests into total from day_counts where owner = p_owner and day = p_day for update;
  granted := greatest(0, least(p_wanted, p_per_day - total));
  if granted > 0 then
    total := total + granted;
    update day_counts set requests = total where owner = p_owner and day = p_day;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.note_state_since()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.owned_of(p_account_id uuid, p_kind smallint, p_ids bigint[], p_days integer)
 RETURNS SETOF bigint
 LANGUAGE plpgsql
AS $function$
begin
  return query select person_id from owned_people
    where account_id = p_account_id and kind = p_kind and person_id = any(p_ids)
      and paid_at > clock_timestamp() - make_interval(days => p_days);
end $function$;

CREATE OR REPLACE FUNCTION public.raise_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.revision := old.revision + 1;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.record_batch_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  is_export boolean := new.kind = 'export';
  is_told boolean := new.kind = 'list' or new.matched > new.owned;
  -- The people of a completed export that delivered only people whom its account owned.
  owned_alone integer := case when new.state = 'completed' and new.matched = new.owned then new.owned else 0 end;
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
        'total', case when is_told then new.rows_total else nullif(owned_alone, 0) end,
        'matched', case when is_told then new.matched else owned_alone end,
        'no_match', case when is_told then new.no_match else 0 end,
        'ambiguous', new.ambiguous, 'invalid', new.invalid,
        'suppressed', case when is_told then new.suppressed else 0 end,
        'duplicate', new.duplicate, 'error', case when is_told then new.error_rows else 0 end,
        'not_processed', case when is_told then new.not_processed else 0 end),
      'credits', json_build_object('charged', new.credits_charged, 'max', new.max_credits),
      'links', json_build_object(
        'self', case when is_export then '/v1/exports/' else '/v1/batches/' end || new.id)));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_credits_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.record_key_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_webhook_event(new.account_id, new.mode = 'live', 'key.revoked',
    new.id::text, json_build_object('id', new.id, 'prefix', new.prefix));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_schedule_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    s.id || ' ' || iso_time(new.slot),
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Those of failed slots quote the filter.
      'reason', case when new.state = 'skipped' or new.reason = 'key_revoked'
        then new.reason else 'export_refused' end,
      'links', json_build_object('self', '/v1/schedules/' || s.id,
        'runs', '/v1/schedules/' || s.id || '/runs')))
  from schedules s where s.id = new.schedule_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_webhook_event(p_account_id uuid, p_live boolean, p_type text, p_subject text, p_data json, p_threshold bigint DEFAULT NULL::bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'ledger_entries is append-only: write a new line instead';
end $function$;

CREATE OR REPLACE FUNCTION public.sum_stored_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stored_sums (account_id, bytes, batches)
  select account_id, sum(stored_bytes), count(*) from added
  where finished_at is not null and files_deleted_at is null group by account_id order by account_id
  on conflict (account_id) do update
    set bytes = stored_sums.bytes + excluded.bytes, batches = stored_sums.batches + excluded.batches;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.sum_stored_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stored_sums (account_id, bytes, batches)
  select account_id, sum(bytes), sum(batches) from (
    select account_id, stored_bytes as bytes, 1 as batches from added
    where finished_at is not null and files_deleted_at is null
    union all
    select account_id, -stored_bytes, -1 from removed
    where finished_at is not null and files_deleted_at is null) changed
  group by account_id having sum(bytes) <> 0 or sum(batches) <> 0 order by account_id
  on conflict (account_id) do update
    set bytes = stored_sums.bytes + excluded.bytes, batches = stored_sums.batches + excluded.batches;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.take_tokens(p_owner uuid, p_name text, p_per_minute integer, p_cost integer, OUT admitted boolean, OUT remaining integer, OUT full_in interval, OUT retry_in interval)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.utc_today()
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$ select (now() at time zone 'UTC')::date $function$;

CREATE OR REPLACE FUNCTION public.webhook_payload(p_event_id uuid, p_at timestamp with time zone, p_type text, p_live boolean, p_data json)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  select json_build_object('id', p_event_id, 'type', p_type, 'timestamp', iso_time(p_at),
    'live', p_live, 'data', p_data)
$function$;

create table graph.changed_records (
  number bigint not null,
  entity smallint not null,
  id bigint not null,
  constraint changed_records_pkey PRIMARY KEY (number, entity, id)
);

create table graph.cities (
  id integer not null,
  name text default ''::text not null,
  country_id integer default 0 not null,
  region_id integer default 0 not null,
  created_at timestamp without time zone default '1970-01-01 00:00:00'::timestamp without time zone not null,
  constraint cities_pkey PRIMARY KEY (id)
);
CREATE INDEX cities_name ON graph.cities USING btree (btrim(graph.fold(name)), country_id);

create table graph.companies (
  id bigint not null,
  created_at timestamp without time zone not null,
  when_updated timestamp without time zone not null,
  name text not null,
  domain text,
  website text,
  professional_network text,
  registry_number text,
  registry_country text,
  phone text,
  email text,
  twitter text,
  industry_id integer,
  head_count text,
  employees integer,
  founded text,
  summary text,
  logo text,
  street text,
  postcode text,
  locality text,
  location_geo text,
  city_id integer,
  region_id integer,
  country_id integer,
  domains text[] default '{}'::text[] not null,
  aliases text[] default '{}'::text[] not null,
  former_names text[] default '{}'::text[] not null,
  sic_codes text[] default '{}'::text[] not null,
  status text,
  constraint companies_pkey PRIMARY KEY (id)
);
CREATE INDEX companies_name ON graph.companies USING btree (btrim(graph.fold(name)));

create table graph.company_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  company_id bigint not null,
  constraint company_identifiers_pkey PRIMARY KEY (value, kind, company_id)
);
CREATE INDEX company_identifiers_company_id ON graph.company_identifiers USING btree (company_id);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.company_identifiers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.company_identifiers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.company_identifiers FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.company_identifiers REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');

create table graph.company_keys_to_write (
  first_id bigint not null,
  last_id bigint not null
);

create table graph.company_name_keys (
  key bigint not null,
  company_id bigint not null,
  constraint company_name_keys_pkey PRIMARY KEY (key, company_id)
);

create table graph.company_records (
  id bigint not null,
  record text not null,
  constraint company_records_pkey PRIMARY KEY (id)
);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.company_records REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.company_records REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.company_records FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.company_records REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'id');

create table graph.countries (
  id integer not null,
  name text default ''::text not null,
  iso2 text,
  constraint countries_pkey PRIMARY KEY (id)
);

create table graph.financial_periods (
  company_id bigint not null,
  period_end date not null,
  currency text not null,
  revenue bigint,
  gross_profit bigint,
  operating_profit bigint,
  profit bigint,
  total_assets bigint,
  net_assets bigint,
  cash bigint,
  employees integer,
  is_sourced boolean default false not null,
  constraint financial_periods_pkey PRIMARY KEY (company_id, period_end)
);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.financial_periods REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.financial_periods REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.financial_periods FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.financial_periods REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');

create table graph.former_identifiers (
  value_sha256 bytea not null,
  kind smallint not null,
  person_id bigint not null,
  left_at timestamp with time zone default now() not null,
  identifier_sha256 bytea,
  constraint former_identifiers_pkey PRIMARY KEY (value_sha256, kind, person_id)
);

create table graph.further_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  person_id bigint not null,
  constraint further_identifiers_pkey PRIMARY KEY (value, kind, person_id)
);
CREATE INDEX further_identifiers_person_id ON graph.further_identifiers USING btree (person_id);

create table graph.graph_changes (
  number bigint not null,
  token uuid default gen_random_uuid() not null,
  changed_at timestamp with time zone default now() not null,
  is_whole boolean default false not null,
  constraint graph_changes_pkey PRIMARY KEY (number)
);

create table graph.import_rows (
  line bigint not null,
  place integer not null,
  is_counted boolean not null,
  state smallint not null,
  entity smallint not null,
  key text collate "C" not null,
  hash bytea not null,
  record text,
  keys text[] not null,
  refs text[] not null
);
alter table graph.import_rows set unlogged;

create table graph.imports (
  id bigint generated always as identity not null,
  source text not null,
  files text[] not null,
  sha256 bytea not null,
  as_of date not null,
  snapshot_of text,
  state text default 'running'::text not null,
  started_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  row_count integer default 0 not null,
  new_count integer default 0 not null,
  changed_count integer default 0 not null,
  same_count integer default 0 not null,
  gone_count integer default 0 not null,
  merged_count integer default 0 not null,
  rejected_count integer default 0 not null,
  suppressed_count integer default 0 not null,
  problem text,
  constraint imports_pkey PRIMARY KEY (id),
  constraint imports_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'undoing'::text, 'undone'::text])))
);
CREATE INDEX imports_source ON graph.imports USING btree (source, as_of);

create table graph.industries (
  id integer not null,
  name text not null,
  constraint industries_pkey PRIMARY KEY (id)
);

create table graph.keyed_companies (
  id bigint not null,
  keys bigint[] not null,
  constraint keyed_companies_pkey PRIMARY KEY (id)
);

create table graph.keyed_persons (
  id bigint not null,
  keys bigint[] not null,
  constraint keyed_persons_pkey PRIMARY KEY (id)
);

create table graph.lookup_titles (
  id integer generated always as identity not null,
  title text collate "C" not null,
  people integer not null,
  constraint lookup_titles_pkey PRIMARY KEY (id),
  constraint lookup_titles_title_key UNIQUE (title)
);

create table graph.lookup_values (
  kind smallint not null,
  id bigint not null,
  name text default ''::text not null,
  folded text collate "C" default ''::text not null,
  people integer default 0 not null,
  constraint lookup_values_pkey PRIMARY KEY (kind, id)
);
CREATE INDEX lookup_values_folded ON graph.lookup_values USING btree (kind, folded) INCLUDE (people, id) WHERE (name <> ''::text);
CREATE INDEX lookup_values_people ON graph.lookup_values USING btree (kind, people DESC, folded, id) WHERE (name <> ''::text);

create table graph.lookup_vocabulary (
  kind smallint not null,
  word text collate "C" not null,
  constraint lookup_vocabulary_pkey PRIMARY KEY (kind, word)
);
CREATE INDEX lookup_vocabulary_remains ON graph.lookup_vocabulary USING gin (graph.word_remains(word,
CASE
    WHEN (length(word) >= 8) THEN 2
    ELSE 1
END)) WHERE (length(word) >= 3);

create table graph.lookup_words (
  kind smallint not null,
  word text collate "C" not null,
  id bigint not null,
  constraint lookup_words_pkey PRIMARY KEY (kind, word, id)
);

create table graph.merged_ids (
  entity smallint not null,
  id bigint not null,
  into_id bigint not null,
  import_id bigint not null,
  merged_at timestamp with time zone default now() not null,
  constraint merged_ids_pkey PRIMARY KEY (entity, id)
);
CREATE INDEX merged_ids_into ON graph.merged_ids USING btree (entity, into_id);

create table graph.name_counts (
  key bigint not null,
  records integer not null,
  constraint name_counts_pkey PRIMARY KEY (key)
);

create table graph.name_statistics (
  is_only boolean default true not null,
  version bigint not null,
  people integer not null,
  companies integer not null,
  constraint name_statistics_is_only_check CHECK (is_only),
  constraint name_statistics_pkey PRIMARY KEY (is_only)
);

create table graph.officers (
  id bigint generated always as identity not null,
  company_id bigint not null,
  name text not null,
  role text default ''::text not null,
  appointed_on date,
  resigned_on date,
  birth_year integer,
  birth_month integer,
  person_id bigint,
  is_sourced boolean default false not null,
  constraint officers_birth_month_check CHECK (((birth_month >= 1) AND (birth_month <= 12))),
  constraint officers_company_id_name_role_appointed_on_key UNIQUE NULLS NOT DISTINCT (company_id, name, role, appointed_on),
  constraint officers_pkey PRIMARY KEY (id)
);
CREATE INDEX officers_name_birth ON graph.officers USING btree (graph.fold(regexp_replace(name, '^([^,]+), *(.+)$'::text, '\2 \1'::text)), birth_year) WHERE ((person_id IS NULL) AND (birth_year <> 0));
CREATE INDEX officers_person_id ON graph.officers USING btree (person_id) WHERE (person_id IS NOT NULL);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.officers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.officers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.officers FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.officers REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('1', 'company_id');
CREATE TRIGGER officers_hide_suppressed BEFORE INSERT ON graph.officers FOR EACH ROW EXECUTE FUNCTION graph.hide_suppressed_officer();

create table graph.person_briefs (
  id bigint not null,
  brief text not null,
  constraint person_briefs_pkey PRIMARY KEY (id)
);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.person_briefs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.person_briefs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.person_briefs FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.person_briefs REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');

create table graph.person_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  person_id bigint not null,
  constraint person_identifiers_pkey PRIMARY KEY (value, kind, person_id)
);
CREATE INDEX person_identifiers_person_id ON graph.person_identifiers USING btree (person_id);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.person_identifiers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.person_identifiers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.person_identifiers FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.person_identifiers REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');

create table graph.person_name_keys (
  key bigint not null,
  person_id bigint not null,
  constraint person_name_keys_pkey PRIMARY KEY (key, person_id)
);

create table graph.person_records (
  id bigint not null,
  company_id bigint not null,
  record text not null,
  constraint person_records_pkey PRIMARY KEY (id)
);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.person_records REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.person_records REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.person_records FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.person_records REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'id');

create table graph.person_search (
  id bigint not null,
  company_id bigint not null,
  present bigint not null,
  created_at timestamp without time zone not null,
  when_updated timestamp without time zone not null,
  position_id integer not null,
  industry_id integer not null,
  city_id integer not null,
  country_id integer not null,
  region_id integer not null,
  birth_year integer not null,
  years_experience integer not null,
  salary_min integer,
  salary_max integer,
  staff_min integer,
  staff_max integer,
  gender text collate "C" not null,
  name text collate "C" not null,
  surname text collate "C" not null,
  position_name text collate "C" not null,
  skills text[] collate "C" not null,
  constraint person_search_pkey PRIMARY KEY (id)
);
CREATE INDEX person_search_city ON graph.person_search USING btree (city_id, id);
CREATE INDEX person_search_company ON graph.person_search USING btree (company_id, id);
CREATE INDEX person_search_industry ON graph.person_search USING btree (industry_id, id);
CREATE INDEX person_search_position ON graph.person_search USING btree (position_id, id);
CREATE INDEX person_search_position_name ON graph.person_search USING btree (position_name, id);
CREATE INDEX person_search_surname ON graph.person_search USING btree (surname, id);
CREATE INDEX person_search_updated ON graph.person_search USING btree (when_updated);
CREATE INDEX person_search_values ON graph.person_search USING gin (position_id, position_name, industry_id, city_id, region_id, country_id, company_id, skills, graph.folded_words(position_name));

create table graph.persons (
  id bigint not null,
  created_at timestamp without time zone not null,
  when_updated timestamp without time zone not null,
  title text default ''::text not null,
  name text default ''::text not null,
  surname text default ''::text not null,
  gender text default ''::text not null,
  birth_date date,
  birth_year integer default 0 not null,
  domain text,
  email text default ''::text not null,
  work_email text default ''::text not null,
  professional_network text default ''::text not null,
  professional_network_connections integer default 0 not null,
  professional_network_status text,
  twitter text,
  twitter_status text,
  social_a_id text default ''::text not null,
  social_a_username text default ''::text not null,
  social_a_status text,
  industry_id integer default 0 not null,
  "position" text default ''::text not null,
  position_id integer default 0 not null,
  experience text default ''::text not null,
  inferred_salary text default ''::text not null,
  inferred_years_experience integer default 0 not null,
  skills text default ''::text not null,
  summary text default ''::text not null,
  school text,
  profile_language text,
  language text default ''::text not null,
  service_categories text,
  past_company text default ''::text not null,
  past_company_id bigint,
  past_companies jsonb,
  company_id bigint default 0 not null,
  current_company_id bigint,
  current_companies jsonb,
  locality text default ''::text not null,
  location_geo text default ''::text not null,
  street text default ''::text not null,
  postcode text,
  ip_address text,
  city_id integer default 0 not null,
  country_id integer default 0 not null,
  region_id integer,
  phone text default ''::text not null,
  mobile text,
  phone_status text,
  mobile_status text,
  email_status text,
  work_email_status text,
  data_source_type integer default 0 not null,
  status_type integer default 0 not null,
  bounce_response_type integer default 0 not null,
  profile_image text,
  profile_image_mapping text,
  last_post text,
  last_post_date timestamp without time zone,
  constraint persons_gender_check CHECK ((gender = ANY (ARRAY[''::text, 'male'::text, 'female'::text]))),
  constraint persons_pkey PRIMARY KEY (id)
);
CREATE INDEX persons_company_id ON graph.persons USING btree (company_id) WHERE (company_id <> 0);
CREATE INDEX persons_domain ON graph.persons USING btree (btrim(graph.fold(domain))) WHERE (domain <> ''::text);
CREATE INDEX persons_email ON graph.persons USING btree (btrim(graph.fold(email))) WHERE (email <> ''::text);
CREATE INDEX persons_name_birth ON graph.persons USING btree (graph.fold(((name || ' '::text) || surname)), birth_year) WHERE (birth_year <> 0);
CREATE INDEX persons_professional_network ON graph.persons USING btree (btrim(graph.fold(professional_network))) WHERE (professional_network <> ''::text);
CREATE INDEX persons_work_email ON graph.persons USING btree (btrim(graph.fold(work_email))) WHERE (work_email <> ''::text);
CREATE TRIGGER note_deleted AFTER DELETE ON graph.persons REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();
CREATE TRIGGER note_inserted AFTER INSERT ON graph.persons REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.persons FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.persons REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();

create table graph.positions (
  id integer not null,
  name text not null,
  constraint positions_pkey PRIMARY KEY (id)
);
CREATE INDEX positions_name ON graph.positions USING btree (btrim(graph.fold(name)));

create table graph.records_to_build (
  entity smallint not null,
  id bigint not null,
  parted_from bigint,
  origins bigint[],
  constraint records_to_build_pkey PRIMARY KEY (entity, id)
);

create table graph.regions (
  id integer not null,
  name text default ''::text not null,
  country_id integer default 0 not null,
  constraint regions_pkey PRIMARY KEY (id)
);
CREATE INDEX regions_name ON graph.regions USING btree (btrim(graph.fold(name)));

create table graph.source_keys (
  value text collate "C" not null,
  is_reference boolean not null,
  number bigint not null,
  constraint source_keys_pkey PRIMARY KEY (value, is_reference, number)
);
CREATE INDEX source_keys_number ON graph.source_keys USING btree (number);

create table graph.source_mappings (
  name text collate "C" not null,
  mapping json not null,
  saved_at timestamp with time zone default now() not null,
  constraint source_mappings_pkey PRIMARY KEY (name)
);

create table graph.source_record_versions (
  import_id bigint not null,
  number bigint not null,
  before_import_id bigint not null,
  before_as_of date not null,
  before_hash bytea not null,
  before_record text,
  constraint source_record_versions_pkey PRIMARY KEY (import_id, number)
);
CREATE INDEX source_record_versions_before ON graph.source_record_versions USING btree (before_import_id);

create table graph.source_records (
  number bigint generated always as identity not null,
  source text collate "C" not null,
  key text collate "C" not null,
  entity smallint not null,
  id bigint,
  import_id bigint not null,
  as_of date not null,
  hash bytea not null,
  record text,
  apart bigint default 0 not null,
  constraint source_records_pkey PRIMARY KEY (number),
  constraint source_records_source_key_key UNIQUE (source, key)
);
CREATE INDEX source_records_id ON graph.source_records USING btree (id, entity);
CREATE INDEX source_records_import ON graph.source_records USING btree (import_id);

create table graph.source_splits (
  id bigint generated always as identity not null,
  entity smallint not null,
  from_id bigint not null,
  numbers bigint[] not null,
  made_at timestamp with time zone default now() not null,
  undone_at timestamp with time zone,
  constraint source_splits_pkey PRIMARY KEY (id)
);

create table graph.suppressed_identifiers (
  value_sha256 bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint suppressed_identifiers_pkey PRIMARY KEY (value_sha256)
);

create table graph.suppressed_officers (
  company_id bigint not null,
  name_sha256 bytea not null,
  number bigint not null,
  is_of_part boolean default false not null,
  other_sha256 bytea,
  constraint suppressed_officers_pkey PRIMARY KEY (company_id, name_sha256)
);
CREATE INDEX suppressed_officers_number ON graph.suppressed_officers USING btree (number);

create table graph.suppressed_persons (
  person_id bigint not null,
  created_at timestamp with time zone default now() not null,
  number bigint not null,
  constraint suppressed_persons_pkey PRIMARY KEY (person_id)
);
CREATE INDEX suppressed_persons_number ON graph.suppressed_persons USING btree (number);
CREATE TRIGGER directors_deleted AFTER DELETE ON graph.suppressed_persons REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();
CREATE TRIGGER directors_inserted AFTER INSERT ON graph.suppressed_persons REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();
CREATE TRIGGER directors_updated AFTER UPDATE ON graph.suppressed_persons REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_directors();
CREATE TRIGGER note_deleted AFTER DELETE ON graph.suppressed_persons REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');
CREATE TRIGGER note_inserted AFTER INSERT ON graph.suppressed_persons REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON graph.suppressed_persons FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records();
CREATE TRIGGER note_updated AFTER UPDATE ON graph.suppressed_persons REFERENCING OLD TABLE AS replaced NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION graph.note_changed_records('2', 'person_id');

create table graph.suppressions (
  number bigint generated always as identity not null,
  created_at timestamp with time zone default now() not null,
  constraint suppressions_pkey PRIMARY KEY (number)
);

CREATE OR REPLACE FUNCTION graph.companies_hiding_officers(p_ids bigint[])
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  select c.id from unnest(p_ids) c (id)
  where exists (
    select from ids_of_company(c.id) i (id)
    -- In the order of the index: without statistics all officers would be read for each company.
    where (select true from suppressed_officers s where s.company_id = i.id order by s.name_sha256 limit 1)) $function$;

CREATE OR REPLACE FUNCTION graph.fold(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (octet_length(value) = length(value)) THEN replace(lower(value), '`'::text, ''''::text) ELSE replace(replace(replace(replace(translate(lower(regexp_replace(NORMALIZE(replace(value, '´'::text, ''''::text), NFKD), '[\u0300-\u036f]'::text, ''::text, 'g'::text)), 'øđðłıς`‘’‛ʼ′‐‑‒–—―−'::text, 'oddliσ''''''''''''-------'::text), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text) END;

CREATE OR REPLACE FUNCTION graph.fold_all(texts text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(SELECT f.f FROM (unnest(fold_all.texts) t(t) CROSS JOIN LATERAL btrim(graph.fold(t.t)) f(f)) WHERE (f.f <> ''::text));

CREATE OR REPLACE FUNCTION graph.fold_words(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN "left"(TRIM(BOTH FROM regexp_replace(graph.fold(value), '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+'::text, ' '::text, 'g'::text)), 200);

CREATE OR REPLACE FUNCTION graph.folded_words(value text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN regexp_split_to_array(btrim(regexp_replace(graph.fold(value), '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+'::text, ' '::text, 'g'::text)), ' '::text);

CREATE OR REPLACE FUNCTION graph.hidden_officer_name(p_name_sha256 bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ select 'suppressed:' || encode(p_name_sha256, 'hex') $function$;

CREATE OR REPLACE FUNCTION graph.hide_suppressed_officer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  suppression bigint;
  is_other boolean;
  parts bigint[] := '{}';
begin
  if new.name like 'suppressed:%' then
    return new;
  end if;
  suppression := officer_hidden_by(new.company_id, new.name);
  if suppression is null then
    return new;
  end if;
  -- It is not known to which part of the company an office of a file of one's own belongs.
  if new.is_sourced then
    is_other := is_office_of_other(new.name, new.birth_year, new.birth_month, new.person_id);
    if not is_other then
      parts := array(select parts_of_office(new.company_id, new.name, new.role, new.appointed_on));
    end if;
  end if;
  insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part, other_sha256)
  select distinct i.id, officer_name_sha256(i.id, new.name), suppression,
    new.is_sourced and (is_other is distinct from false or parts <> '{}' and i.id <> all(parts)),
    case when is_other then holder_sha256(new.name, new.birth_year) end
  from unnest(parts || new.company_id) i (id)
  on conflict (company_id, name_sha256) do update set is_of_part = false
    where s.is_of_part and not excluded.is_of_part;
  new.name := hidden_officer_name(officer_name_sha256(new.company_id, new.name));
  new.birth_year := null;
  new.birth_month := null;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION graph.holder_sha256(p_name text, p_birth_year integer)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  select sha256(convert_to(
    fold(regexp_replace(p_name, '^([^,]+), *(.+)$', '\2 \1')) || ':' || p_birth_year, 'UTF8')) $function$;

CREATE OR REPLACE FUNCTION graph.ids_of_company(p_company_id bigint)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  select p_company_id
  union
  select id from merged_ids where entity = 1 and into_id = p_company_id
  union
  select 1000000000000 + number from source_records
  where id = p_company_id and entity = 1 and record is not null and source <> 'own' $function$;

CREATE OR REPLACE FUNCTION graph.is_office_of_other(p_name text, p_birth_year integer, p_birth_month integer, p_person_id bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when exists (select from suppressed_persons s where s.person_id = p_person_id) then false
    when bool_or(n.is_suppressed and n.fits) then false
    when p_person_id is not null then true
    when bool_or(n.is_suppressed or n.fits) then true
  end
  from (
    select s.person_id is not null as is_suppressed,
      p.birth_year = p_birth_year and (p_birth_month is null or p.birth_date is null
        or extract(month from p.birth_date) = p_birth_month) as fits
    from persons p left join suppressed_persons s on s.person_id = p.id
    where p_birth_year <> 0 and p.birth_year <> 0
      and fold(p.name || ' ' || p.surname) = fold(regexp_replace(p_name, '^([^,]+), *(.+)$', '\2 \1'))) n $function$;

CREATE OR REPLACE FUNCTION graph.look_up(p_kind integer, p_text text, p_limit integer, OUT folded text, OUT unknown text[], OUT matches json)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  ids bigint[] := '{}';
  worded bigint[];
begin
  folded := fold_words(p_text);
  unknown := '{}';
  if trim(p_text) = '' then
    ids := array(
      select v.id from lookup_values v where v.kind = p_kind and v.name <> ''
      order by v.people desc, v.folded, v.id limit p_limit);
  elsif folded <> '' then
    ids := look_up_prefixed(p_kind, folded, p_limit);
    if cardinality(ids) < p_limit then
      select w.ids, w.unknown into worded, unknown
      from look_up_worded(p_kind, folded, p_limit - cardinality(ids)) w;
      ids := ids || worded;
    end if;
  end if;
  select coalesce(json_agg(json_build_object('id', v.id, 'name', v.name, 'count', v.people)
    order by place), '[]') into matches
  from unnest(ids) with ordinality best (id, place)
  cross join lateral (
    select * from lookup_values where kind = p_kind and id = best.id limit 1) v;
end $function$;

CREATE OR REPLACE FUNCTION graph.look_up_popular(p_kind integer, p_text text, p_limit integer, p_rows integer)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select array(
    select id from (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
      order by people desc, folded, id limit p_rows) popular
    where ' ' || folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(folded, p_text)
    order by people desc, folded, id limit p_limit)
$function$;

CREATE OR REPLACE FUNCTION graph.look_up_prefixed(p_kind integer, p_text text, p_limit integer)
 RETURNS bigint[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  range_end constant text := p_text || chr(1114111);
  ids bigint[];
begin
  -- For a text that begins many names the most frequent values suffice, if enough of them match.
  perform from lookup_values where kind = p_kind and name <> ''
    and folded >= p_text and folded < range_end offset 500 limit 1;
  if found then
    ids := array(
      select id from (
        select id, folded, people from lookup_values where kind = p_kind and name <> ''
        order by people desc, folded, id limit 4000) popular
      where starts_with(folded, p_text) order by people desc, folded, id limit p_limit);
    if cardinality(ids) = p_limit then return ids; end if;
  end if;
  -- Materialised; otherwise the planner reads all values in the order of people.
  return array(
    with fitting as materialized (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
        and folded >= p_text and folded < range_end)
    select id from fitting order by people desc, folded, id limit p_limit);
end $function$;

CREATE OR REPLACE FUNCTION graph.look_up_worded(p_kind integer, p_text text, p_limit integer, OUT ids bigint[], OUT unknown text[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  words text[];
  held bigint[];
  next_held bigint[];
begin
  -- The rarest first; of common ones the longest. Words are stored truncated to 60 characters.
  select array_agg(counted.word order by counted.held, length(counted.word) desc, counted.word),
    coalesce(array_agg(counted.word) filter (where counted.held = 0), '{}')
  into words, unknown
  from (
    select asked.word, cardinality(names_with_word(p_kind, asked.word, 300)) as held
    from (select distinct left(w, 60) collate "C" from string_to_table(p_text, ' ') w)
      asked (word)) counted;
  ids := '{}';
  if cardinality(unknown) > 0 or p_limit = 0 then return; end if;
  held := names_with_word(p_kind, words[1], 300);
  if cardinality(held) = 300 then
    -- A text that matches many values has enough matches among the very first.
    ids := look_up_popular(p_kind, p_text, p_limit, 500);
    if cardinality(ids) = p_limit then return; end if;
    held := names_with_word(p_kind, words[1], 10000);
    for place in 2 .. least(4, cardinality(words)) loop
      -- Values are read one by one: two words leave fewer of them than one does.
      exit when cardinality(held) <= 500;
      next_held := names_with_word(p_kind, words[place], 10000);
      if cardinality(held) = 10000 then held := next_held;
      elsif cardinality(next_held) < 10000 then
        held := array(select unnest(held) intersect select unnest(next_held));
      end if;
    end loop;
    if cardinality(held) > 1000 then
      ids := look_up_popular(p_kind, p_text, p_limit, 4000);
      if cardinality(ids) = p_limit or cardinality(held) > 3000 then return; end if;
    end if;
  end if;
  ids := array(
    select v.id from lookup_values v where v.kind = p_kind and v.id = any(held)
      and ' ' || v.folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(v.folded, p_text)
    order by v.people desc, v.folded, v.id limit p_limit);
end $function$;

CREATE OR REPLACE FUNCTION graph.lookup_names(p_kind integer, p_ids bigint[])
 RETURNS TABLE(id bigint, name text)
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_column
begin
  if p_kind = 1 then
    return query
      -- A derived id (from 2^30 on) is of a title in people's own words: from ten people on, as below.
      select p.id::bigint, p.name from positions p
      where (p_ids is null or p.id = any(p_ids)) and (p.id < 1073741824 or exists (
        select from lookup_values v where v.kind = 1 and v.id = p.id and v.people >= 10))
      union all
      -- The usual spelling among the first people.
      select t.id + 12884901888, coalesce((
        select mode() within group (order by r.position) from (
          select p.position from person_search s join persons p on p.id = s.id
          where s.position_name = t.title and p.position <> '' order by s.id limit 100) r), t.title)
      from lookup_titles t where p_ids is null or t.id + 12884901888 = any(p_ids);
  elsif p_kind = 2 then
    return query
      select c.id::bigint, concat_ws(', ', c.name, nullif(r.name, ''), nullif(n.name, ''))
      from cities c
      left join regions r on r.id = c.region_id
      left join countries n on n.id = c.country_id
      where c.name <> '' and (p_ids is null or c.id = any(p_ids))
      union all
      select r.id + 4294967296, concat_ws(', ', r.name, nullif(n.name, ''))
      from regions r left join countries n on n.id = r.country_id
      where r.name <> '' and (p_ids is null or r.id + 4294967296 = any(p_ids))
      union all
      select n.id + 8589934592, n.name from countries n
      where n.name <> '' and (p_ids is null or n.id + 8589934592 = any(p_ids));
  else
    return query select i.id::bigint, i.name from industries i where p_ids is null or i.id = any(p_ids);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION graph.name_lookups(p_kind integer, p_ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
begin
  with renamed as (
    select n.id, n.name, fold_words(n.name) as folded, v.folded as folded_before
    from lookup_names(p_kind, p_ids) n
    left join lookup_values v on v.kind = p_kind and v.id = n.id
    where v.name is distinct from n.name),
  written as (
    insert into lookup_values (kind, id, name, folded)
    select p_kind, id, name, folded from renamed
    on conflict (kind, id) do update set name = excluded.name, folded = excluded.folded),
  word as (
    select distinct r.id, left(w, 60) as word
    from renamed r cross join string_to_table(r.folded, ' ') w where w <> ''),
  forgotten as (
    delete from lookup_words w
    using (select r.id, left(b, 60) as word
      from renamed r cross join string_to_table(r.folded_before, ' ') b) before
    where w.kind = p_kind and w.word = before.word and w.id = before.id
      and not exists (select from word where word.id = w.id and word.word = w.word)),
  noted as (
    insert into lookup_words (kind, word, id) select p_kind, word, id from word order by word, id
    on conflict do nothing)
  insert into lookup_vocabulary (kind, word) select distinct p_kind, word from word order by word
  on conflict do nothing;
end $function$;

CREATE OR REPLACE FUNCTION graph.names_with_word(p_kind integer, p_word text, p_limit integer)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select array(
    select w.id from lookup_words w
    where w.kind = p_kind and w.word >= p_word and w.word < p_word || chr(1114111)
    limit p_limit)
$function$;

CREATE OR REPLACE FUNCTION graph.note_changed_directors()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'graph'
AS $function$
declare
  change bigint := nullif(current_setting('enrich.change_of_' || tg_table_schema, true), '')::bigint;
  people text;
begin
  -- A whole change lists nothing.
  if not exists (select from officers)
    or coalesce((select is_whole from graph_changes where number = change), false)
  then
    return null;
  end if;
  if tg_table_name = 'suppressed_persons' then
    people := 'select p.id, p.name, p.surname, p.birth_year, p.birth_date
      from changed join persons p on p.id = changed.person_id';
    if tg_op = 'UPDATE' then
      people := people || ' union ' || replace(people, 'changed', 'replaced');
    end if;
  else
    people := 'select id, name, surname, birth_year, birth_date from changed';
    if tg_op = 'UPDATE' then
      people := format('(%1$s except %2$s) union all (%2$s except %1$s)',
        people, replace(people, 'changed', 'replaced'));
    end if;
  end if;
  execute format(
    'with people as (%s),
    meant as (
      select o.id from people p join officers o on o.person_id = p.id
      union
      select o.id from people p join officers o on o.person_id is null and o.birth_year <> 0
        and o.birth_year = p.birth_year and p.birth_year <> 0
        and fold(regexp_replace(o.name, ''^([^,]+), *(.+)$'', ''\2 \1'')) = fold(p.name || '' '' || p.surname))
    update officers o set person_id = o.person_id from meant where o.id = meant.id', people);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION graph.note_changed_records()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'graph'
AS $function$
declare
  listed_max int;
  variable constant text := 'enrich.change_of_' || tg_table_schema;
  counter constant text := 'enrich.listed_of_' || tg_table_schema;
  change bigint := nullif(current_setting(variable, true), '')::bigint;
  touches boolean := true;
  noted int := 0;
begin
  if tg_op <> 'TRUNCATE' then
    execute 'select exists (select from changed)' into touches;
  end if;
  if not touches then
    return null;
  end if;
  if change is null then
    perform pg_advisory_xact_lock(hashtextextended('graph ' || tg_table_schema, 0));
    insert into graph_changes (number) select max(number) + 1 from graph_changes
      returning number into change;
    perform set_config(variable, change::text, true);
    perform set_config(counter, '0', true);
  elsif (select is_whole from graph_changes where number = change) then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    select greatest(10000, sum(reltuples) / 4) into listed_max
    from pg_class where oid in ('person_records'::regclass, 'company_records'::regclass);
    execute format(
      'insert into changed_records (number, entity, id)
       select $1, $2, id from (
         select distinct %1$I as id from changed %2$s limit $3) touched
       where not exists (
         select from changed_records n where n.number = $1 and n.entity = $2 and n.id = touched.id)
       order by id',
      tg_argv[1], case when tg_op = 'UPDATE' then format('union select %I from replaced', tg_argv[1]) end)
      using change, tg_argv[0]::smallint, listed_max + 1;
    get diagnostics noted = row_count;
    noted := noted + coalesce(nullif(current_setting(counter, true), '')::int, 0);
    perform set_config(counter, noted::text, true);
  end if;
  if tg_op = 'TRUNCATE' or noted > listed_max then
    update graph_changes set is_whole = true where number = change;
    delete from changed_records where number = change;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION graph.number_range(value text)
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  plain text := translate(value, ', $£€', '');
begin
  if plain ~ '^[0-9]{1,9}-[0-9]{1,9}$' then
    return array[split_part(plain, '-', 1)::int, split_part(plain, '-', 2)::int];
  elsif plain ~ '^[0-9]{1,9}$' then
    return array[plain::int, plain::int];
  elsif plain ~ '^(>[0-9]{1,9}|[0-9]{1,9}[+])$' then
    return array[translate(plain, '>+', '')::int, 2147483647];
  elsif plain ~ '^<[0-9]{1,9}$' then
    return array[0, translate(plain, '<', '')::int];
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION graph.officer_hidden_by(p_company_id bigint, p_name text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  -- The hash of a name takes longer.
  if not exists (select from companies_hiding_officers(array[p_company_id])) then
    return null;
  end if;
  return (
    select max(s.number) from ids_of_company(p_company_id) i (id)
    join suppressed_officers s on s.company_id = i.id and not s.is_of_part
      and s.name_sha256 = officer_name_sha256(i.id, p_name));
end $function$;

CREATE OR REPLACE FUNCTION graph.officer_name_sha256(p_company_id bigint, p_name text)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$ select sha256(convert_to(p_company_id || ':' || fold(p_name), 'UTF8')) $function$;

CREATE OR REPLACE FUNCTION graph.parts_of_office(p_company_id bigint, p_name text, p_role text, p_appointed_on date)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  select distinct case c.source when 'own' then c.id else 1000000000000 + c.number end
  from source_records r
  join source_keys ref on ref.number = r.number and ref.is_reference
  join source_keys k on k.value = ref.value and not k.is_reference
  join source_records c on c.number = k.number and c.id = p_company_id and c.entity = 1 and c.record is not null
  where r.id = p_company_id and r.entity = 3 and r.record is not null
    and r.record::json ->> 'name' = p_name and coalesce(r.record::json ->> 'role', '') = p_role
    and (r.record::json ->> 'appointedOn')::date is not distinct from p_appointed_on $function$;

CREATE OR REPLACE FUNCTION graph.people_who_left(p_hashes bytea[], p_kinds smallint[])
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(m.into_id, f.person_id)
  from former_identifiers f left join merged_ids m on m.entity = 2 and m.id = f.person_id
  where f.value_sha256 = any(p_hashes) and f.kind = any(p_kinds)
    and not exists (select from persons p where p.id = f.person_id) $function$;

CREATE OR REPLACE FUNCTION graph.rebuild_lookups()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from lookup_values;
  delete from lookup_words;
  delete from lookup_vocabulary;
  delete from lookup_titles;
  insert into lookup_values (kind, id, people)
  select 1, position_id, count(*) from persons where position_id <> 0 group by position_id
  union all
  select 2, city_id, count(*) from persons where city_id <> 0 group by city_id
  union all
  select 2, region_id + 4294967296, count(*) from persons where region_id <> 0 group by region_id
  union all
  select 2, country_id + 8589934592, count(*) from persons where country_id <> 0 group by country_id
  union all
  select 3, industry_id, count(*) from persons where industry_id <> 0 group by industry_id;
  perform refresh_lookup_titles();
  perform name_lookups(1, null), name_lookups(2, null), name_lookups(3, null);
end $function$;

CREATE OR REPLACE FUNCTION graph.refresh_lookup_titles()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  unnamed bigint[];
begin
  -- Derived positions that fewer than ten people have now.
  with hidden as (
    update lookup_values v set name = '', folded = ''
    where v.kind = 1 and v.id between 1073741824 and 2147483647 and v.name <> '' and v.people < 10
    returning v.id)
  delete from lookup_words w using hidden h where w.kind = 1 and w.id = h.id;

  with held as materialized (
    select s.position_name as title, count(*)::int as people from person_search s
    where s.position_name <> '' group by s.position_name having count(*) >= 10),
  shown as materialized (
    select h.* from held h
    where not exists (
      select from positions p left join lookup_values v on v.kind = 1 and v.id = p.id
      where btrim(fold(p.name)) = h.title and (p.id < 1073741824 or v.people >= 10))),
  gone as (
    delete from lookup_titles t where not exists (select from shown s where s.title = t.title))
  insert into lookup_titles as t (title, people) select s.title, s.people from shown s order by s.title
  on conflict (title) do update set people = excluded.people where t.people <> excluded.people;

  delete from lookup_words w where w.kind = 1 and w.id > 12884901888
    and not exists (select from lookup_titles t where t.id = w.id - 12884901888);
  delete from lookup_values v where v.kind = 1 and v.id > 12884901888
    and not exists (select from lookup_titles t where t.id = v.id - 12884901888);
  insert into lookup_values as v (kind, id, people)
  select 1, t.id + 12884901888, t.people from lookup_titles t
  on conflict (kind, id) do update set people = excluded.people where v.people <> excluded.people;
  unnamed := array(
    select v.id from lookup_values v where v.kind = 1 and v.name = ''
      and (v.id > 12884901888 or v.id >= 1073741824 and v.people >= 10));
  perform name_lookups(1, unnamed);
end $function$;

CREATE OR REPLACE FUNCTION graph.refresh_name_counts()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  create temp table counted on commit drop as
    select key, count(*)::int as records from keyed_persons, unnest(keys) key where key & 7 in (1, 2)
    group by key having count(*) > 1
    union all
    select key, count(*) from keyed_companies, unnest(keys) key where key & 7 = 5
    group by key having count(*) > 1
    union all
    select company_id * 8 + 6, count(*) from person_search where company_id <> 0
    group by company_id having count(*) > 1;
  delete from name_counts n where not exists (select from counted c where c.key = n.key);
  insert into name_counts as n (key, records) select key, records from counted
  on conflict (key) do update set records = excluded.records where n.records <> excluded.records;
  drop table counted;
  update name_statistics set
    version = (select coalesce(sum(hashint8extended(key, records)), 0)::numeric % 9007199254740991 from name_counts),
    people = (select count(*) from persons), companies = (select count(*) from companies);
end $function$;

CREATE OR REPLACE FUNCTION graph.refresh_person_search(p_ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  insert into person_search as s (id, company_id, present, created_at, when_updated, position_id,
    industry_id, city_id, country_id, region_id, birth_year, years_experience, salary_min, salary_max,
    staff_min, staff_max, gender, name, surname, position_name, skills)
  select r.id, r.company_id,
      ((r.title <> '')::int::bigint << 0) |
      ((r.name <> '')::int::bigint << 1) |
      ((r.surname <> '')::int::bigint << 2) |
      ((r.gender <> '')::int::bigint << 3) |
      ((r.birth_date is not null)::int::bigint << 4) |
      ((r.birth_year <> 0)::int::bigint << 5) |
      ((coalesce(r.domain, '') <> '')::int::bigint << 6) |
      ((r.email <> '')::int::bigint << 7) |
      ((r.work_email <> '')::int::bigint << 8) |
      ((r.professional_network <> '')::int::bigint << 9) |
      ((r.professional_network_connections <> 0)::int::bigint << 10) |
      ((coalesce(r.professional_network_status, '') <> '')::int::bigint << 11) |
      ((coalesce(r.twitter, '') <> '')::int::bigint << 12) |
      ((coalesce(r.twitter_status, '') <> '')::int::bigint << 13) |
      ((r.social_a_id <> '')::int::bigint << 14) |
      ((r.social_a_username <> '')::int::bigint << 15) |
      ((coalesce(r.social_a_status, '') <> '')::int::bigint << 16) |
      ((r.industry_id <> 0)::int::bigint << 17) |
      ((industry.id is not null)::int::bigint << 18) |
      ((r.position <> '')::int::bigint << 19) |
      ((r.position_id <> 0)::int::bigint << 20) |
      ((job.id is not null)::int::bigint << 21) |
      ((r.experience <> '')::int::bigint << 22) |
      ((r.inferred_salary <> '')::int::bigint << 23) |
      ((r.inferred_years_experience <> 0)::int::bigint << 24) |
      ((r.skills <> '')::int::bigint << 25) |
      ((r.summary <> '')::int::bigint << 26) |
      ((coalesce(r.school, '') <> '')::int::bigint << 27) |
      ((coalesce(r.profile_language, '') <> '')::int::bigint << 28) |
      ((r.language <> '')::int::bigint << 29) |
      ((coalesce(r.service_categories, '') <> '')::int::bigint << 30) |
      ((r.past_company <> '')::int::bigint << 31) |
      ((r.past_company_id is not null)::int::bigint << 32) |
      ((coalesce(r.past_companies, '[]') <> '[]')::int::bigint << 33) |
      ((r.company_id <> 0)::int::bigint << 34) |
      ((employer.id is not null)::int::bigint << 35) |
      ((r.current_company_id is not null)::int::bigint << 36) |
      ((coalesce(r.current_companies, '[]') <> '[]')::int::bigint << 37) |
      ((r.locality <> '')::int::bigint << 38) |
      ((r.location_geo <> '')::int::bigint << 39) |
      ((r.street <> '')::int::bigint << 40) |
      ((coalesce(r.postcode, '') <> '')::int::bigint << 41) |
      ((coalesce(r.ip_address, '') <> '')::int::bigint << 42) |
      ((r.city_id <> 0)::int::bigint << 43) |
      ((city.id is not null)::int::bigint << 44) |
      ((r.country_id <> 0)::int::bigint << 45) |
      ((country.id is not null)::int::bigint << 46) |
      ((r.region_id is not null)::int::bigint << 47) |
      ((region.id is not null)::int::bigint << 48) |
      ((r.phone <> '')::int::bigint << 49) |
      ((coalesce(r.mobile, '') <> '')::int::bigint << 50) |
      ((coalesce(r.phone_status, '') <> '')::int::bigint << 51) |
      ((coalesce(r.mobile_status, '') <> '')::int::bigint << 52) |
      ((coalesce(r.email_status, '') <> '')::int::bigint << 53) |
      ((coalesce(r.work_email_status, '') <> '')::int::bigint << 54) |
      ((r.data_source_type <> 0)::int::bigint << 55) |
      ((r.status_type <> 0)::int::bigint << 56) |
      ((r.bounce_response_type <> 0)::int::bigint << 57) |
      ((coalesce(r.profile_image, '') <> '')::int::bigint << 58) |
      ((coalesce(r.profile_image_mapping, '') <> '')::int::bigint << 59) |
      ((coalesce(r.last_post, '') <> '')::int::bigint << 60) |
      ((r.last_post_date is not null)::int::bigint << 61)
      , r.created_at, r.when_updated, r.position_id, r.industry_id, r.city_id, r.country_id,
    coalesce(r.region_id, 0), r.birth_year, r.inferred_years_experience, salary[1], salary[2],
    coalesce(staff[1], employer.employees), coalesce(staff[2], employer.employees), r.gender,
    btrim(fold(r.name)), btrim(fold(r.surname)),
    btrim(fold(coalesce(nullif(r.position, ''), job.name, ''))),
    case when r.skills = '' then '{}' else
      array_remove(regexp_split_to_array(btrim(fold(r.skills)), '\s*,\s*'), '') end
  from unnest(p_ids) listed (id)
  join persons r on r.id = listed.id
  left join positions job on job.id = r.position_id
  left join industries industry on industry.id = r.industry_id
  left join companies employer on employer.id = r.company_id
  left join cities city on city.id = r.city_id
  left join countries country on country.id = r.country_id and country.name <> ''
  left join regions region on region.id = r.region_id and region.name <> ''
  cross join lateral (select number_range(nullif(r.inferred_salary, '')) as salary,
    number_range(employer.head_count) as staff offset 0) ranges
  on conflict (id) do update set company_id = excluded.company_id, present = excluded.present,
    created_at = excluded.created_at, when_updated = excluded.when_updated,
    position_id = excluded.position_id, industry_id = excluded.industry_id,
    city_id = excluded.city_id, country_id = excluded.country_id, region_id = excluded.region_id,
    birth_year = excluded.birth_year, years_experience = excluded.years_experience,
    salary_min = excluded.salary_min, salary_max = excluded.salary_max,
    staff_min = excluded.staff_min, staff_max = excluded.staff_max, gender = excluded.gender,
    name = excluded.name, surname = excluded.surname, position_name = excluded.position_name, skills = excluded.skills
  where s.* is distinct from excluded.*;
end $function$;

CREATE OR REPLACE FUNCTION graph.similar_words(p_kind integer, p_words text[])
 RETURNS TABLE(asked text, similar_ones text)
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select asked.word, (
    select string_agg(v.word, ' ') from lookup_vocabulary v
    where v.kind = p_kind and length(v.word) >= 3
      and length(v.word) between length(asked.word) - 2 and length(asked.word) + 2
      and word_remains(v.word, case when length(v.word) >= 8 then 2 else 1 end)
        && word_remains(asked.word, case when length(asked.word) >= 6 then 2 else 1 end))
  from unnest(p_words) asked (word)
$function$;

CREATE OR REPLACE FUNCTION graph.stored_officer_name(p_company_id bigint, p_name text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case when officer_hidden_by(p_company_id, p_name) is null then p_name
    else hidden_officer_name(officer_name_sha256(p_company_id, p_name)) end $function$;

CREATE OR REPLACE FUNCTION graph.suppress_people(p_ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  suppression bigint;
begin
  if coalesce(cardinality(p_ids), 0) = 0 then
    return;
  end if;
  insert into suppressions default values returning number into suppression;
  insert into suppressed_persons (person_id, number)
  select distinct unnest(p_ids), suppression on conflict do nothing;

  -- Those who are hidden with a namesake so far.
  update suppressed_officers s set is_of_part = false from persons p
  where p.id = any(p_ids) and s.is_of_part
    and s.other_sha256 = holder_sha256(p.name || ' ' || p.surname, p.birth_year);

  with person as (
    select id, fold(name || ' ' || surname) as folded, birth_year,
      extract(month from birth_date) as birth_month
    from persons where id = any(p_ids)),
  officer as (
    -- Also of those who are no longer stored.
    select o.id, o.person_id from officers o
    where o.person_id = any(p_ids) and o.name not like 'suppressed:%'
    union all
    select o.id, p.id
    from officers o join person p on p.birth_year = o.birth_year
      and p.folded = fold(regexp_replace(o.name, '^([^,]+), *(.+)$', '\2 \1'))
    where o.person_id is null and o.birth_year <> 0
      and (o.birth_month is null or p.birth_month is null or p.birth_month = o.birth_month)
      and not exists (
        select from persons other
        where fold(other.name || ' ' || other.surname) = p.folded
          and other.birth_year = p.birth_year and other.birth_year <> 0 and other.id <> p.id
          and (o.birth_month is null or other.birth_date is null
            or extract(month from other.birth_date) = o.birth_month))),
  -- Theirs, each once.
  own as (
    select id, min(person_id) as person_id from officer group by id),
  hidden as (
    select distinct o.company_id, officer_name_sha256(o.company_id, o.name) as name_sha256
    from officers o join own using (id)),
  -- All of that name in the company: the next register cannot distinguish them by its hash.
  taken as (
    delete from officers o using hidden h
    where o.company_id = h.company_id and o.name not like 'suppressed:%'
      and officer_name_sha256(o.company_id, o.name) = h.name_sha256
    returning o.*, h.name_sha256),
  office as (
    select t.*, own.id is not null as is_own, own.person_id as own_person_id,
      own.id is null and t.is_sourced
        and coalesce(is_office_of_other(t.name, t.birth_year, t.birth_month, t.person_id), false) as is_other,
      array(
        select parts_of_office(t.company_id, t.name, t.role, t.appointed_on) where t.is_sourced) as parts
    from taken t left join own using (id)),
  -- Only for results: a record of which all offices of that name are known to be of others, where it is known which ones have
  -- theirs.
  noted as (
    insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part, other_sha256)
    select i.id, officer_name_sha256(i.id, o.name), suppression,
      bool_or(is_other and i.id = any(parts))
        and not bool_or(not is_other and i.id = any(parts) or is_own and parts = '{}'),
      decode(min(encode(holder_sha256(o.name, o.birth_year), 'hex')) filter (where is_other and i.id = any(parts)), 'hex')
    from office o cross join lateral ids_of_company(o.company_id) i (id)
    group by 1, 2
    on conflict (company_id, name_sha256) do update set number = excluded.number, is_of_part = false
      where s.is_of_part and not excluded.is_of_part)
  insert into officers (company_id, name, role, appointed_on, resigned_on, is_sourced, person_id)
  select company_id, hidden_officer_name(name_sha256), role, appointed_on, resigned_on, is_sourced,
    coalesce(person_id, own_person_id)
  from office
  on conflict (company_id, name, role, appointed_on) do nothing;
end $function$;

CREATE OR REPLACE FUNCTION graph.word_remains(p_word text, p_slips integer)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  start constant text := left(p_word, 7);
  shorter text;
  remains text[] := array[start];
begin
  for place in 1 .. length(start) loop
    shorter := overlay(start placing '' from place for 1);
    remains := remains || shorter;
    continue when p_slips < 2;
    for further in place .. length(shorter) loop
      remains := remains || overlay(shorter placing '' from further for 1);
    end loop;
  end loop;
  return remains;
end $function$;
