-- What one account may store, and for how long work may wait for a person.

-- Bytes of the objects of a batch: its upload and the canonical copy of it, or the ids of an export, and the
-- parts of its result. Counted by the statements that record the objects; an object that is rewritten
-- without the people who opted out keeps its first size.
alter table batches add column stored_bytes bigint not null default 0 check (stored_bytes >= 0);
update batches b
set stored_bytes = coalesce(upload_bytes, 0)
  + coalesce((select sum(bytes) from parts where batch_id = b.id), 0)
where files_deleted_at is null;
create index batches_stored on batches (account_id) where files_deleted_at is null;
create index uploads_unused on uploads (account_id) where used_at is null;

-- A batch that was held or paused for too long is cancelled by the service: reason `expired`.
alter table batches drop constraint batches_check;
alter table batches drop constraint batches_reason_known;
alter table batches add constraint batches_reason_known check (case
  when state = 'paused' then reason is not null
    and reason in ('insufficient_credits', 'key_budget', 'user')
  when state in ('cancelling', 'cancelled') then reason is null or reason = 'expired'
  else reason is null end);

-- Entries of each do-not-contact list, beside its version: the row that every change of the list locks, so
-- that a bound on the entries is exact.
lock table do_not_contact in share row exclusive mode;
alter table do_not_contact_versions add column entries bigint not null default 0;
insert into do_not_contact_versions (account_id, live, version, entries)
select account_id, live, 1, count(*) from do_not_contact group by account_id, live
on conflict (account_id, live) do update set entries = excluded.entries;

create function count_do_not_contact_added() returns trigger language plpgsql as $$
begin
  insert into do_not_contact_versions (account_id, live, version, entries)
  select account_id, live, 1, count(*) from changed
  group by account_id, live order by account_id, live
  on conflict (account_id, live) do update
    set version = do_not_contact_versions.version + 1,
      entries = do_not_contact_versions.entries + excluded.entries;
  return null;
end $$;
create function count_do_not_contact_removed() returns trigger language plpgsql as $$
begin
  insert into do_not_contact_versions (account_id, live, version, entries)
  select account_id, live, 1, -count(*) from changed
  group by account_id, live order by account_id, live
  on conflict (account_id, live) do update
    set version = do_not_contact_versions.version + 1,
      entries = do_not_contact_versions.entries + excluded.entries;
  return null;
end $$;

drop trigger do_not_contact_added on do_not_contact;
drop trigger do_not_contact_removed on do_not_contact;
create trigger do_not_contact_added after insert on do_not_contact
  referencing new table as changed
  for each statement execute function count_do_not_contact_added();
create trigger do_not_contact_removed after delete on do_not_contact
  referencing old table as changed
  for each statement execute function count_do_not_contact_removed();

-- A slot that is left out because the account stores its maximum is told by that reason.
create or replace function record_schedule_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Other reasons quote the filter.
      'reason', case when new.reason in ('key_revoked', 'previous_run_open', 'storage_full')
        then new.reason else 'export_refused' end,
      'links', json_build_object('self', '/v1/schedules/' || s.id,
        'runs', '/v1/schedules/' || s.id || '/runs')))
  from schedules s where s.id = new.schedule_id;
  return null;
end $$;
