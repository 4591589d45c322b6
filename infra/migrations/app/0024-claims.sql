-- A claim and a tick of the sweep read what can run now, however many batches are open that cannot.

-- Why no chunk of the batch is claimed now: 'time' until `claim_after`, 'key' until `key_waits` lets its key
-- continue. Null when nothing is in the way. `claim_after` stays when the wait is over.
alter table batches
  add column waits_for text check (waits_for in ('time', 'key')),
  add column claim_after timestamptz,
  add check (waits_for <> 'time' or claim_after is not null);

-- Every move to another state ends the wait: no statement can forget it, nor can a process of the version before.
create or replace function note_state_since() returns trigger language plpgsql as $$
begin
  new.state_since := clock_timestamp();
  new.waits_for := null;
  return new;
end $$;

-- Keys whose rows per minute are used up, and when the next batches of each are tried. Without a foreign key,
-- whose check would lock the key after the batch.
create table key_waits (
  key_id uuid primary key,
  claim_after timestamptz not null
);
create index key_waits_due on key_waits (claim_after);

-- The account, while chunks of the batch may be claimed. A column of its own, because the planner must not take
-- another index for the round-robin over accounts: all others hold the batches that cannot run as well. A batch
-- that is cancelled before its split has no chunks.
alter table batches add column claimable_account uuid generated always as (
  case when state in ('queued', 'running', 'cancelling') and chunks_total is not null and waits_for is null
    then account_id end) stored;
create index batches_claimable on batches (claimable_account, created_at, id)
  where claimable_account is not null;
create index batches_waiting_for_time on batches (claim_after) where waits_for = 'time';
create index batches_waiting_for_key on batches (key_id, created_at, id) where waits_for = 'key';
-- Few, whatever number of chunks are pending.
create index chunks_in_flight on chunks (batch_id) where state in ('dispatched', 'leased');
-- Those of one key and operation are short of the same credits.
create index batches_short_of_credits on batches (account_id, key_id, operation, reason)
  where state = 'paused' and reason in ('insufficient_credits', 'key_budget');

-- One index over all batches that have not ended takes the place of two.
create index batches_not_ended on batches (state, account_id)
  where state not in ('completed', 'cancelled', 'failed');
drop index batches_open;
drop index batches_waiting;
