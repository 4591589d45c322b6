-- The opt-out of an officer holds for the records of the company to which the office belongs, wherever an import or an operator puts
-- these, also those that never were a company of their own. One of the same name in another record of the company, which is hidden as
-- long as the two are one company, is named again once they are parted.
-- Runs with 0.1.0

-- True where the office is one of another company that is, or was, a part of this one: it hides nobody by itself, and is for results.
alter table suppressed_officers add column is_of_part boolean default false not null;

-- The ids under which officers of this company may be hidden: its own, those that became a part of it, and the first ones of its
-- records.
create function ids_of_company(p_company_id bigint) returns setof bigint language sql stable as $$
  select p_company_id
  union
  select id from merged_ids where entity = 1 and into_id = p_company_id
  union
  select 1000000000000 + number from source_records
  where id = p_company_id and entity = 1 and record is not null and source <> 'own' $$;

create or replace function companies_hiding_officers(p_ids bigint[]) returns setof bigint language sql stable as $$
  select c.id from unnest(p_ids) c (id)
  where exists (select from suppressed_officers)
    and exists (select from ids_of_company(c.id) i (id) join suppressed_officers s on s.company_id = i.id) $$;

create or replace function officer_hidden_by(p_company_id bigint, p_name text) returns bigint language plpgsql stable as $$
begin
  if not exists (select from suppressed_officers) then
    return null;
  end if;
  return (
    select max(s.number) from ids_of_company(p_company_id) i (id)
    join suppressed_officers s on s.company_id = i.id and not s.is_of_part
      and s.name_sha256 = officer_name_sha256(i.id, p_name));
end $$;

create or replace function hide_suppressed_officer() returns trigger language plpgsql as $$
declare
  hash bytea;
  suppression bigint;
begin
  if new.name like 'suppressed:%' then
    return new;
  end if;
  suppression := officer_hidden_by(new.company_id, new.name);
  if suppression is null then
    return new;
  end if;
  hash := officer_name_sha256(new.company_id, new.name);
  -- It is not known to which part of the company an office of a file of one's own belongs.
  insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part)
  values (new.company_id, hash, suppression, new.is_sourced)
  on conflict (company_id, name_sha256) do update set is_of_part = false
    where s.is_of_part and not excluded.is_of_part;
  new.name := hidden_officer_name(hash);
  new.birth_year := null;
  new.birth_month := null;
  return new;
end $$;

create or replace function suppress_people(p_ids bigint[]) returns void language plpgsql as $$
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
  -- All of that name in the company: the next register cannot distinguish them by its hash.
  taken as (
    delete from officers o using hidden h
    where o.company_id = h.company_id and o.name not like 'suppressed:%'
      and officer_name_sha256(o.company_id, o.name) = h.name_sha256
    returning o.*, h.name_sha256),
  -- The first ids of the records to which an office of a source belongs.
  stated as (
    select distinct o.id, case c.source when 'own' then c.id else 1000000000000 + c.number end as company_id
    from officers o join officer using (id)
    join source_records r on r.id = o.company_id and r.entity = 3 and r.record is not null
      and r.record::json ->> 'name' = o.name and coalesce(r.record::json ->> 'role', '') = o.role
      and (r.record::json ->> 'appointedOn')::date is not distinct from o.appointed_on
    join source_keys ref on ref.number = r.number and ref.is_reference
    join source_keys k on k.value = ref.value and not k.is_reference
    join source_records c on c.number = k.number and c.id = o.company_id and c.entity = 1 and c.record is not null
    where o.is_sourced),
  noted as (
    insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part)
    select i.id, officer_name_sha256(i.id, o.name), suppression,
      bool_and(exists (select from stated where stated.id = o.id)
        and not exists (select from stated where stated.id = o.id and stated.company_id = i.id))
    from officers o join officer using (id) cross join lateral ids_of_company(o.company_id) i (id)
    group by 1, 2
    on conflict (company_id, name_sha256) do update set number = excluded.number, is_of_part = false
      where s.is_of_part and not excluded.is_of_part)
  insert into officers (company_id, name, role, appointed_on, resigned_on, is_sourced, person_id)
  select company_id, hidden_officer_name(name_sha256), role, appointed_on, resigned_on, is_sourced,
    coalesce(person_id, (select min(officer.person_id) from officer where officer.id = taken.id))
  from taken
  on conflict (company_id, name, role, appointed_on) do nothing;
end $$;
