-- How often each do-not-contact list was changed. A search on a replica compares the number there with
-- the one of this database: a list that was changed a moment ago holds at once. By triggers, so that
-- no way of changing a list can forget it.
create table do_not_contact_versions (
  account_id uuid not null references accounts,
  live boolean not null,
  version bigint not null,
  primary key (account_id, live)
);

create function count_do_not_contact_change() returns trigger language plpgsql as $$
begin
  insert into do_not_contact_versions (account_id, live, version)
  select distinct account_id, live, 1 from changed
  order by account_id, live
  on conflict (account_id, live)
    do update set version = do_not_contact_versions.version + 1;
  return null;
end $$;

create trigger do_not_contact_added after insert on do_not_contact
  referencing new table as changed
  for each statement execute function count_do_not_contact_change();
create trigger do_not_contact_removed after delete on do_not_contact
  referencing old table as changed
  for each statement execute function count_do_not_contact_change();
-- A line that changes its account (nothing here does that) counts for the new one.
create trigger do_not_contact_changed after update on do_not_contact
  referencing new table as changed
  for each statement execute function count_do_not_contact_change();
