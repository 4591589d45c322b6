-- A result is checked against the opt-outs before it is given out.

alter table parts
  -- Suppressions up to this number do not stand in the part. Null: it shows no people. -1: made before
  -- parts said whom they show.
  add column suppression_number bigint;

update parts set suppression_number = -1 from batches b
where b.id = parts.batch_id and (b.operation like 'people.%' or b.operation = 'companies.enrich');

create index parts_suppression_number on parts (suppression_number)
  where suppression_number is not null;

-- Objects to delete: new ones until a commit records them, old ones once it has replaced them. What a
-- crash leaves here is deleted by the housekeeping.
create table discarded_objects (
  key text primary key,
  since timestamptz not null default now()
);
create index discarded_objects_since on discarded_objects (since);
