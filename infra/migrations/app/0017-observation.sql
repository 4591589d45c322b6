-- What an operator asks: who is there, what waits and since when, and what the last audit found.

-- Every process says now and then that it is there. Nothing is lost with it: the next beat writes it again.
create unlogged table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker')),
  host text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  -- Leases of workers that died or froze, taken back by this one.
  leases_reclaimed bigint not null
);

-- The last audit of each depth.
create table audits (
  deep boolean primary key,
  ended_at timestamptz not null,
  violations bigint not null,
  -- Names of the checks that failed.
  failed text[] not null
);

-- Since when a batch is in its state. A trigger sets it, so that no statement can forget it, nor can a process
-- of the version before, which runs while an upgrade is under way.
alter table batches add column state_since timestamptz not null default now();
create function note_state_since() returns trigger language plpgsql as $$
begin
  new.state_since := clock_timestamp();
  return new;
end $$;
create trigger batches_state_since
  before update of state on batches
  for each row when (old.state is distinct from new.state) execute function note_state_since();

-- When a part was committed: a batch without new parts makes no progress.
alter table parts add column committed_at timestamptz not null default now();

-- Those that wait for somebody; `batches_open` holds those that go on by themselves.
create index batches_waiting on batches (account_id) where state in ('ready', 'paused');
