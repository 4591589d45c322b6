-- Phones and handles that a source has of a person whose record has those of a more trusted one: an opt-out by them holds for
-- the person. No look-up reads them. What was built before is queued, for the next import to build it again.
-- Runs with 0.1.0

create table further_identifiers (
  value text collate "C" not null,
  -- As in `person_identifiers`.
  kind smallint not null,
  person_id bigint not null,
  primary key (value, kind, person_id)
);
create index further_identifiers_person_id on further_identifiers (person_id);

insert into records_to_build (entity, id)
select 2, id from source_records where entity = 2 and record is not null and id is not null
group by id having count(*) > 1
on conflict do nothing;
