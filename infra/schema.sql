-- The schema that the migrations of infra/migrations add up to. Written by `npm run schema`; a test
-- holds it equal. The schema graph_test is the same as graph.

create extension pg_trgm schema public;

create table public.accounts (
  id uuid not null,
  name text not null,
  email text,
  created_at timestamp with time zone default now() not null,
  constraint accounts_pkey PRIMARY KEY (id)
);

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
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint api_keys_key_sha256_key UNIQUE (key_sha256),
  constraint api_keys_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_requests_per_day_check CHECK ((requests_per_day > 0)),
  constraint api_keys_requests_per_minute_check CHECK ((requests_per_minute > 0)),
  constraint api_keys_rows_per_minute_check CHECK ((rows_per_minute > 0))
);
CREATE INDEX api_keys_account ON public.api_keys USING btree (account_id);

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
  require_agreement boolean default false not null,
  rerun_of uuid,
  quote jsonb,
  report jsonb,
  upload_key text not null,
  upload_bytes bigint not null,
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
  credits_charged bigint default 0 not null,
  credits_reserved bigint default 0 not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  files_deleted_at timestamp with time zone,
  constraint batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint batches_check CHECK (((reason IS NOT NULL) = (state = 'paused'::text))),
  constraint batches_check1 CHECK (((error IS NOT NULL) = (state = 'failed'::text))),
  constraint batches_check2 CHECK (((max_credits IS NULL) OR ((credits_charged + credits_reserved) <= max_credits))),
  constraint batches_check3 CHECK (((((((((matched + no_match) + ambiguous) + invalid) + suppressed) + duplicate) + error_rows) + not_processed) <= rows_total)),
  constraint batches_check4 CHECK (((state <> ALL (ARRAY['queued'::text, 'running'::text, 'paused'::text, 'finalizing'::text, 'completed'::text])) OR ((canonical_key IS NOT NULL) AND (rows_total IS NOT NULL) AND (chunks_total IS NOT NULL) AND (width IS NOT NULL)))),
  constraint batches_check5 CHECK (((state <> 'completed'::text) OR ((chunks_done = chunks_total) AND (credits_reserved = 0) AND ((((((((matched + no_match) + ambiguous) + invalid) + suppressed) + duplicate) + error_rows) + not_processed) = rows_total)))),
  constraint batches_credits_reserved_check CHECK ((credits_reserved >= 0)),
  constraint batches_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint batches_max_credits_check CHECK ((max_credits >= 0)),
  constraint batches_pkey PRIMARY KEY (id),
  constraint batches_rerun_of_fkey FOREIGN KEY (rerun_of) REFERENCES public.batches(id) ON DELETE SET NULL,
  constraint batches_state_check CHECK ((state = ANY (ARRAY['created'::text, 'validating'::text, 'ready'::text, 'queued'::text, 'running'::text, 'paused'::text, 'finalizing'::text, 'completed'::text, 'cancelling'::text, 'cancelled'::text, 'failed'::text])))
);
CREATE INDEX batches_account ON public.batches USING btree (account_id, live, created_at DESC, id DESC);
CREATE INDEX batches_open ON public.batches USING btree (account_id, created_at) WHERE (state = ANY (ARRAY['created'::text, 'validating'::text, 'queued'::text, 'running'::text, 'finalizing'::text, 'cancelling'::text]));

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
CREATE INDEX chunks_open ON public.chunks USING btree (batch_id, state, number) WHERE (state <> 'done'::text);

create table public.day_counts (
  owner uuid not null,
  day date not null,
  requests integer not null,
  constraint day_counts_pkey PRIMARY KEY (owner, day)
);
alter table public.day_counts set (fillfactor=50);

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
  body jsonb,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint idempotency_keys_check CHECK ((((status IS NULL) = (request_sha256 IS NULL)) AND ((status IS NULL) = (body IS NULL)))),
  constraint idempotency_keys_pkey PRIMARY KEY (account_id, live, method, path, key)
);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

create table public.key_budgets (
  key_id uuid not null,
  credits_per_day bigint not null,
  day date default '1970-01-01'::date not null,
  spent bigint default 0 not null,
  constraint key_budgets_credits_per_day_check CHECK ((credits_per_day > 0)),
  constraint key_budgets_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id),
  constraint key_budgets_pkey PRIMARY KEY (key_id),
  constraint key_budgets_spent_check CHECK ((spent >= 0))
);
alter table public.key_budgets set (fillfactor=50);

create table public.ledger_entries (
  id bigint generated always as identity not null,
  account_id uuid not null,
  reference text not null,
  kind text not null,
  amount bigint not null,
  operation text,
  units bigint,
  batch_id uuid,
  created_at timestamp with time zone default now() not null,
  constraint ledger_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint ledger_entries_account_id_reference_key UNIQUE (account_id, reference),
  constraint ledger_entries_amount_check CHECK ((amount <> 0)),
  constraint ledger_entries_check CHECK (((kind = 'charge'::text) = (amount < 0))),
  constraint ledger_entries_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'charge'::text, 'refund'::text]))),
  constraint ledger_entries_pkey PRIMARY KEY (id)
);
CREATE INDEX ledger_entries_account_time ON public.ledger_entries USING btree (account_id, created_at);
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION public.refuse_ledger_change();
CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_ledger_change();

create table public.migrations (
  name text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migrations_pkey PRIMARY KEY (name)
);

create table public.parts (
  batch_id uuid not null,
  chunk_number integer not null,
  k integer not null,
  object_key text not null,
  rows integer not null,
  bytes bigint not null,
  report jsonb default '{}'::jsonb not null,
  constraint parts_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE,
  constraint parts_object_key_key UNIQUE (object_key),
  constraint parts_pkey PRIMARY KEY (batch_id, chunk_number, k),
  constraint parts_rows_check CHECK ((rows > 0))
);

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

create table public.wallets (
  account_id uuid not null,
  balance bigint default 0 not null,
  reserved bigint default 0 not null,
  constraint wallets_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id),
  constraint wallets_check CHECK (((0 <= reserved) AND (reserved <= balance))),
  constraint wallets_pkey PRIMARY KEY (account_id)
);

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

CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'ledger_entries is append-only: write a new line instead';
end $function$;

CREATE OR REPLACE FUNCTION public.take_request(p_owner uuid, p_per_minute integer, p_per_day integer, OUT admitted boolean, OUT refused_by text, OUT minute_remaining integer, OUT minute_full_in interval, OUT day_remaining integer, OUT day_ends_in interval, OUT retry_in interval)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  today date := (clock_timestamp() at time zone 'UTC')::date;
  used int;
  bucket record;
begin
  insert into day_counts (owner, day, requests) values (p_owner, today, 0) on conflict do nothing;
  select requests into used from day_counts where owner = p_owner and day = today for update;
  day_ends_in := ((today + 1)::timestamp at time zone 'UTC') - clock_timestamp();
  if used >= p_per_day then
    admitted := false;
    refused_by := 'day';
    retry_in := day_ends_in;
    -- What the minute still holds is told, not taken.
    select * into bucket from take_tokens(p_owner, 'requests', p_per_minute, 0);
  else
    select * into bucket from take_tokens(p_owner, 'requests', p_per_minute, 1);
    admitted := bucket.admitted;
    refused_by := case when admitted then null else 'minute' end;
    retry_in := bucket.retry_in;
    if admitted then
      used := used + 1;
      update day_counts set requests = used where owner = p_owner and day = today;
    end if;
  end if;
  minute_remaining := bucket.remaining;
  minute_full_in := bucket.full_in;
  day_remaining := greatest(0, p_per_day - used);
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

create table graph.cities (
  id integer not null,
  name text default ''::text not null,
  country_id integer default 0 not null,
  region_id integer default 0 not null,
  created_at timestamp without time zone default '1970-01-01 00:00:00'::timestamp without time zone not null,
  constraint cities_pkey PRIMARY KEY (id)
);

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
  constraint companies_pkey PRIMARY KEY (id)
);

create table graph.company_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  company_id bigint not null,
  constraint company_identifiers_pkey PRIMARY KEY (value, kind, company_id)
);
CREATE INDEX company_identifiers_company_id ON graph.company_identifiers USING btree (company_id);

create table graph.company_records (
  id bigint not null,
  record text not null,
  constraint company_records_pkey PRIMARY KEY (id)
);

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
  constraint financial_periods_pkey PRIMARY KEY (company_id, period_end)
);

create table graph.industries (
  id integer not null,
  name text not null,
  constraint industries_pkey PRIMARY KEY (id)
);

create table graph.lookup_values (
  kind smallint not null,
  id integer not null,
  name text default ''::text not null,
  folded text collate "C" default ''::text not null,
  people integer default 0 not null,
  constraint lookup_values_pkey PRIMARY KEY (kind, id)
);
CREATE INDEX lookup_values_folded ON graph.lookup_values USING btree (kind, folded) WHERE (name <> ''::text);
CREATE INDEX lookup_values_people ON graph.lookup_values USING btree (kind, people DESC, folded, id) WHERE (name <> ''::text);

create table graph.lookup_vocabulary (
  kind smallint not null,
  word text collate "C" not null,
  constraint lookup_vocabulary_pkey PRIMARY KEY (kind, word)
);
CREATE INDEX lookup_vocabulary_trigrams ON graph.lookup_vocabulary USING gin (word public.gin_trgm_ops);

create table graph.lookup_words (
  kind smallint not null,
  word text collate "C" not null,
  id integer not null,
  constraint lookup_words_pkey PRIMARY KEY (kind, word, id)
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
  constraint officers_birth_month_check CHECK (((birth_month >= 1) AND (birth_month <= 12))),
  constraint officers_company_id_name_role_appointed_on_key UNIQUE NULLS NOT DISTINCT (company_id, name, role, appointed_on),
  constraint officers_pkey PRIMARY KEY (id)
);

create table graph.person_briefs (
  id bigint not null,
  brief text not null,
  constraint person_briefs_pkey PRIMARY KEY (id)
);

create table graph.person_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  person_id bigint not null,
  constraint person_identifiers_pkey PRIMARY KEY (value, kind, person_id)
);
CREATE INDEX person_identifiers_person_id ON graph.person_identifiers USING btree (person_id);

create table graph.person_records (
  id bigint not null,
  company_id bigint not null,
  record text not null,
  constraint person_records_pkey PRIMARY KEY (id)
);

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
CREATE INDEX persons_name_birth ON graph.persons USING btree (graph.fold(((name || ' '::text) || surname)), birth_year) WHERE (birth_year <> 0);

create table graph.positions (
  id integer not null,
  name text not null,
  constraint positions_pkey PRIMARY KEY (id)
);

create table graph.regions (
  id integer not null,
  name text default ''::text not null,
  country_id integer default 0 not null,
  constraint regions_pkey PRIMARY KEY (id)
);

create table graph.suppressed_identifiers (
  value_sha256 bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint suppressed_identifiers_pkey PRIMARY KEY (value_sha256)
);

create table graph.suppressed_persons (
  person_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint suppressed_persons_pkey PRIMARY KEY (person_id)
);

CREATE OR REPLACE FUNCTION graph.fold(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN lower(regexp_replace(NORMALIZE(value, NFKD), '[\u0300-\u036f]'::text, ''::text, 'g'::text));

CREATE OR REPLACE FUNCTION graph.fold_words(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN "left"(TRIM(BOTH FROM regexp_replace(graph.fold(value), '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+'::text, ' '::text, 'g'::text)), 200);

CREATE OR REPLACE FUNCTION graph.lookup_names(p_kind integer, p_ids integer[])
 RETURNS TABLE(id integer, name text)
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_column
begin
  if p_kind = 1 then
    return query select p.id, p.name from positions p where p_ids is null or p.id = any(p_ids);
  elsif p_kind = 2 then
    return query
      select c.id, concat_ws(', ', c.name, nullif(r.name, ''), nullif(n.name, ''))
      from cities c
      left join regions r on r.id = c.region_id
      left join countries n on n.id = c.country_id
      where c.name <> '' and (p_ids is null or c.id = any(p_ids));
  else
    return query select i.id, i.name from industries i where p_ids is null or i.id = any(p_ids);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION graph.name_lookups(p_kind integer, p_ids integer[])
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

CREATE OR REPLACE FUNCTION graph.rebuild_lookups()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from lookup_values;
  delete from lookup_words;
  delete from lookup_vocabulary;
  insert into lookup_values (kind, id, people)
  select 1, position_id, count(*) from persons where position_id <> 0 group by position_id
  union all
  select 2, city_id, count(*) from persons where city_id <> 0 group by city_id
  union all
  select 3, industry_id, count(*) from persons where industry_id <> 0 group by industry_id;
  perform name_lookups(1, null), name_lookups(2, null), name_lookups(3, null);
end $function$;

CREATE OR REPLACE FUNCTION graph.similar_words(p_kind integer, p_word text)
 RETURNS TABLE(word text)
 LANGUAGE plpgsql
 STABLE
 SET "pg_trgm.similarity_threshold" TO '0.25'
AS $function$
#variable_conflict use_column
begin
  return query select v.word from lookup_vocabulary v
    where v.word operator(public.%) p_word and v.kind = p_kind
      and length(v.word) between length(p_word) - 2 and length(p_word) + 2
    order by public.similarity(v.word, p_word) desc, v.word limit 100;
end $function$;
