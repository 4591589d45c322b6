-- Webhooks: what happens to an account's objects is told to addresses that the account names. The event is
-- recorded by a trigger on the row that changes, in the transaction that changes it: whatever statement of
-- whatever process moves a batch, there is no change without its event and no event without the change.
-- A statement that changes nothing of interest costs the comparison in the trigger's WHEN, no call.

create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  url text not null,
  -- The types of events that are sent there.
  events text[] not null check (cardinality(events) > 0),
  -- `credits.low` is sent when the balance falls below it.
  credits_low_threshold bigint not null check (credits_low_threshold > 0),
  enabled boolean not null,
  -- Why the service itself disabled it; null when nobody or its owner did.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- Since when every attempt has failed; null after one that did not.
  failing_since timestamptz,
  -- Keys of the signatures, encrypted where the service has a key for that. See jobs/webhook/signing-secret.
  secret bytea not null,
  -- The one before it, which signs along for a while.
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null default now(),
  check ((previous_secret is null) = (previous_until is null)),
  check (not enabled or disabled_reason is null)
);
create index webhooks_account on webhooks (account_id, live, created_at desc, id desc);

-- One row for each event and each webhook that it is sent to.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references webhooks on delete cascade,
  -- The header webhook-id: the same at every attempt and for every webhook.
  event_id uuid not null,
  type text not null,
  -- The body as it is sent, ids and counts alone: `json` keeps its text.
  payload json not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Raised by every claim: an outcome counts only with the number of the latest one.
  attempts int not null default 0,
  -- Attempts since the event, or since it was last asked to be sent again: the place in the schedule.
  round_attempts int not null default 0,
  due_at timestamptz not null default now(),
  -- While an attempt is under way; one that ran out is taken over.
  lease_until timestamptz,
  -- What became of the latest attempt.
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

-- A time as all answers of the service write it.
create function iso_time(p_time timestamptz) returns text stable language sql as $$
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The body of an event, as Standard Webhooks has it.
create function webhook_payload(p_event_id uuid, p_type text, p_live boolean, p_data json)
returns json stable language sql as $$
  select json_build_object('id', p_event_id, 'type', p_type, 'timestamp', iso_time(now()),
    'live', p_live, 'data', p_data)
$$;

-- Records an event for every enabled webhook of the owner that takes its type; with a threshold, for those
-- that have this one. It waits for nobody: only who deletes a webhook holds a lock that keeps this one out,
-- and such a webhook is passed over. The notification reaches the workers with the commit.
create function record_webhook_event(
  p_account_id uuid, p_live boolean, p_type text, p_data json, p_threshold bigint default null
) returns void language plpgsql as $$
declare
  event_id uuid := gen_random_uuid();
begin
  insert into webhook_deliveries (webhook_id, event_id, type, payload)
  select w.id, event_id, p_type, webhook_payload(event_id, p_type, p_live, p_data)
  from webhooks w
  where w.account_id = p_account_id and w.live = p_live and w.enabled and p_type = any(w.events)
    and (p_threshold is null or w.credits_low_threshold = p_threshold)
  for key share skip locked;
  if found then
    perform pg_notify('webhook_deliveries', '');
  end if;
end $$;

create function record_batch_event() returns trigger language plpgsql as $$
declare
  is_export boolean := new.kind = 'export';
begin
  perform record_webhook_event(new.account_id, new.live,
    case when is_export then 'export.' else 'batch.' end || new.state,
    -- Neither name nor filter nor the words of an error: a customer's text may name people.
    json_build_object(
      'id', new.id, 'state', new.state, 'reason', new.reason, 'error_code', new.error ->> 'code',
      'operation', new.operation, 'schedule_id', new.schedule_id,
      'rows', json_build_object(
        'total', new.rows_total, 'matched', new.matched, 'no_match', new.no_match,
        'ambiguous', new.ambiguous, 'invalid', new.invalid, 'suppressed', new.suppressed,
        'duplicate', new.duplicate, 'error', new.error_rows, 'not_processed', new.not_processed),
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

create function record_schedule_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Other reasons quote the filter.
      'reason', case when new.reason in ('key_revoked', 'previous_run_open') then new.reason
        else 'export_refused' end,
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
    json_build_object('id', new.id, 'prefix', new.prefix));
  return null;
end $$;
-- The console's key is nobody's: lists of keys leave it out, and so do events.
create trigger api_keys_webhook_event after update of revoked_at on api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null and not new.is_console)
  execute function record_key_event();

-- The balance below which somebody is to be told of a wallet's charges: the highest threshold of the
-- account's webhooks, null where none listens. It stands here, because a trigger's WHEN sees its own row alone.
alter table wallets add column watched_below bigint;

-- Balance and not what is free of reservations: what a reservation holds comes back when it is voided, and
-- the same crossing would be told again and again.
create function record_credits_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(new.account_id, true, 'credits.low',
    json_build_object('threshold', crossed.threshold, 'balance', new.balance,
      'reserved', new.reserved),
    crossed.threshold)
  from (
    select distinct credits_low_threshold as threshold from webhooks
    where account_id = new.account_id and live and enabled and 'credits.low' = any(events)
      and old.balance >= credits_low_threshold and new.balance < credits_low_threshold) crossed;
  if new.balance = 0 then
    perform record_webhook_event(new.account_id, true, 'credits.empty',
      json_build_object('balance', new.balance, 'reserved', new.reserved));
  end if;
  return null;
end $$;
create trigger wallets_webhook_event after update of balance on wallets
  for each row when (new.balance < old.balance and new.balance < new.watched_below)
  execute function record_credits_event();
