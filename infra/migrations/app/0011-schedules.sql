-- Schedules: exports that are made by themselves, at the times of a cron expression on the clocks of a zone.

create table schedules (
  id uuid primary key,
  account_id uuid not null references accounts,
  -- The key that made or last changed it: its exports run under that key's limits, and end with it.
  key_id uuid not null references api_keys,
  live boolean not null,
  name text not null,
  cron text not null,
  time_zone text not null,
  filter text not null,
  fields text[],
  format text not null,
  -- `new` leaves out people whom this schedule has delivered before.
  mode text not null check (mode in ('all', 'new')),
  max_results int check (max_results > 0),
  max_credits bigint check (max_credits >= 0),
  enabled boolean not null,
  -- The slot that comes next; it stays while it is due and nobody took it.
  next_run_at timestamptz check ((next_run_at is not null) = enabled),
  created_at timestamptz not null default now()
);
create index schedules_account on schedules (account_id, live, created_at desc, id desc);
create index schedules_due on schedules (next_run_at) where enabled;

-- What became of each slot. A started one is told by its export.
create table schedule_runs (
  schedule_id uuid not null references schedules on delete cascade,
  slot timestamptz not null,
  state text not null check (state in ('started', 'skipped', 'failed')),
  -- Why it did not start.
  reason text check ((reason is not null) = (state <> 'started')),
  batch_id uuid references batches on delete set null,
  created_at timestamptz not null default now(),
  primary key (schedule_id, slot)
);

-- Whom a schedule has delivered: written by the commit of the part that holds and charges them.
create table schedule_deliveries (
  schedule_id uuid not null,
  person_id bigint not null,
  primary key (schedule_id, person_id)
);

alter table batches
  -- The schedule whose run this export is; it may be deleted since.
  add column schedule_id uuid,
  -- Leaves out whom the schedule has delivered before.
  add column only_new boolean not null default false,
  add check (kind = 'export' or (schedule_id is null and not only_new)),
  add check (schedule_id is not null or not only_new);
