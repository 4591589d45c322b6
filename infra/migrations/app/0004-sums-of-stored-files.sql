-- Bytes and number of the ended lists and exports of each account whose files are kept. Adding them up for each new list takes the
-- longer the more there are. Those that have not ended are few, and their bytes change with each part: they are in no sum. Once
-- for each statement: one that ends many lists writes the row of the account once.
-- Runs with 0.1.0

create table stored_sums (
  account_id uuid primary key references accounts,
  bytes bigint not null,
  batches bigint not null
);

create function sum_stored_added() returns trigger language plpgsql as $$
begin
  insert into stored_sums (account_id, bytes, batches)
  select account_id, sum(stored_bytes), count(*) from added
  where finished_at is not null and files_deleted_at is null group by account_id order by account_id
  on conflict (account_id) do update
    set bytes = stored_sums.bytes + excluded.bytes, batches = stored_sums.batches + excluded.batches;
  return null;
end $$;

create function sum_stored_changed() returns trigger language plpgsql as $$
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
end $$;

create trigger batches_stored_added after insert on batches
  referencing new table as added
  for each statement execute function sum_stored_added();

create trigger batches_stored_changed after update on batches
  referencing old table as removed new table as added
  for each statement execute function sum_stored_changed();

-- Under the lock of the triggers, which lets others read: a second for half a million lists.
insert into stored_sums (account_id, bytes, batches)
select account_id, sum(stored_bytes), count(*) from batches
where finished_at is not null and files_deleted_at is null group by account_id;
