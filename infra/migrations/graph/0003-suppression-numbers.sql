-- Files that were made before somebody opted out are found and rewritten. For that every suppression has
-- a number; whoever makes one holds the lock of writers until the commit (core/graph/write-graph.ts), so
-- a reader who saw a number saw all the lower ones.

create table suppressions (
  number bigint generated always as identity primary key,
  created_at timestamptz not null default now()
);

alter table suppressed_persons add column number bigint not null default 0;
alter table suppressed_persons alter column number drop default;
create index suppressed_persons_number on suppressed_persons (number);

-- Officers who opted out, by company and the hash of the folded name: a register does not know our people,
-- and its next file names them again. Their rows in `officers` bear the hash instead of the name.
create table suppressed_officers (
  company_id bigint not null,
  name_sha256 bytea not null,
  number bigint not null,
  primary key (company_id, name_sha256)
);
create index suppressed_officers_number on suppressed_officers (number);

-- The officers that a person is: by link, or by name as registers write it and year of birth.
create index officers_person_id on officers (person_id) where person_id is not null;
create index officers_name_birth
  on officers (fold(regexp_replace(name, '^([^,]+), *(.+)$', '\2 \1')), birth_year)
  where person_id is null and birth_year <> 0;

create function officer_name_sha256(p_company_id bigint, p_name text) returns bytea
  language sql stable as $$ select sha256(convert_to(p_company_id || ':' || fold(p_name), 'UTF8')) $$;

-- What stands in `officers.name` of somebody who opted out.
create function hidden_officer_name(p_name_sha256 bytea) returns text
  language sql immutable as $$ select 'suppressed:' || encode(p_name_sha256, 'hex') $$;

create function hide_suppressed_officer() returns trigger language plpgsql as $$
declare
  hash bytea;
begin
  if new.name like 'suppressed:%'
    or not exists (select from suppressed_officers where company_id = new.company_id)
  then
    return new;
  end if;
  hash := officer_name_sha256(new.company_id, new.name);
  if exists (select from suppressed_officers
    where company_id = new.company_id and name_sha256 = hash)
  then
    new.name := hidden_officer_name(hash);
    new.birth_year := null;
    new.birth_month := null;
  end if;
  return new;
end $$;

create trigger officers_hide_suppressed before insert on officers
  for each row execute function hide_suppressed_officer();

-- Suppresses these people, and the officers that they are: by a stored link, or the only one of the name
-- and the birth, as a look-up of directors matches them. Call it under the lock of writers.
create function suppress_people(p_ids bigint[]) returns void language plpgsql as $$
declare
  suppression bigint;
begin
  if coalesce(cardinality(p_ids), 0) = 0 then
    return;
  end if;
  insert into suppressions default values returning number into suppression;
  insert into suppressed_persons (person_id, number)
  select distinct unnest(p_ids), suppression on conflict do nothing;

  with person as (
    select id, fold(name || ' ' || surname) as folded, birth_year,
      extract(month from birth_date) as birth_month
    from persons where id = any(p_ids)),
  officer as (
    select o.id, p.id as person_id
    from officers o join person p on p.id = o.person_id
    where o.name not like 'suppressed:%'
    union all
    select o.id, p.id
    from officers o join person p on p.birth_year = o.birth_year
      and p.folded = fold(regexp_replace(o.name, '^([^,]+), *(.+)$', '\2 \1'))
    where o.person_id is null and o.birth_year <> 0
      and (o.birth_month is null or p.birth_month is null or p.birth_month = o.birth_month)
      and not exists (
        select from persons other
        where fold(other.name || ' ' || other.surname) = p.folded
          and other.birth_year = p.birth_year and other.id <> p.id
          and (o.birth_month is null or other.birth_date is null
            or extract(month from other.birth_date) = o.birth_month))),
  hidden as (
    select distinct o.company_id, officer_name_sha256(o.company_id, o.name) as name_sha256
    from officers o join officer using (id)),
  -- All of the name in the company: the next register cannot tell them apart by its hash.
  taken as (
    delete from officers o using hidden h
    where o.company_id = h.company_id and o.name not like 'suppressed:%'
      and officer_name_sha256(o.company_id, o.name) = h.name_sha256
    returning o.*, h.name_sha256),
  noted as (
    insert into suppressed_officers (company_id, name_sha256, number)
    select company_id, name_sha256, suppression from hidden on conflict do nothing)
  insert into officers (company_id, name, role, appointed_on, resigned_on, person_id)
  select company_id, hidden_officer_name(name_sha256), role, appointed_on, resigned_on,
    coalesce(person_id, (select min(officer.person_id) from officer where officer.id = taken.id))
  from taken
  on conflict (company_id, name, role, appointed_on) do nothing;
end $$;

-- People who opted out before this.
select suppress_people(array(select person_id from suppressed_persons));
