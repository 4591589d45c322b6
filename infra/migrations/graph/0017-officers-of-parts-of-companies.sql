-- The opt-out of an officer holds for the records of the company, wherever an import or an operator puts these, also those that never
-- were a company of their own, but for those in which an office of that name is known to be another one's: such a namesake is hidden as
-- long as the records are one company, and named again once they are parted. Officers whom a file links to a person who is not stored
-- are hidden too, before an erasure removes the link. The companies, and people of the same name, are looked up by indexes.
-- Runs with 0.1.0

-- True where the office is one of another company that is, or was, a part of this one: it hides nobody by itself, and is for results.
alter table suppressed_officers add column is_of_part boolean default false not null;

-- Of whom else an office of that name, under this id, is: see `holder_sha256`.
alter table suppressed_officers add column other_sha256 bytea;

-- The ids under which officers of this company may be hidden: its own, those that became a part of it, and the first ones of its
-- records.
create function ids_of_company(p_company_id bigint) returns setof bigint language sql stable as $$
  select p_company_id
  union
  select id from merged_ids where entity = 1 and into_id = p_company_id
  union
  select 1000000000000 + number from source_records
  where id = p_company_id and entity = 1 and record is not null and source <> 'own' $$;

-- Distinguishes people of the same name.
create function holder_sha256(p_name text, p_birth_year int) returns bytea language sql stable as $$
  select sha256(convert_to(
    fold(regexp_replace(p_name, '^([^,]+), *(.+)$', '\2 \1')) || ':' || p_birth_year, 'UTF8')) $$;

create or replace function companies_hiding_officers(p_ids bigint[]) returns setof bigint language sql stable as $$
  select c.id from unnest(p_ids) c (id)
  where exists (
    select from ids_of_company(c.id) i (id)
    -- In the order of the index: without statistics all officers would be read for each company.
    where (select true from suppressed_officers s where s.company_id = i.id order by s.name_sha256 limit 1)) $$;

create or replace function officer_hidden_by(p_company_id bigint, p_name text) returns bigint language plpgsql stable as $$
begin
  -- The hash of a name takes longer.
  if not exists (select from companies_hiding_officers(array[p_company_id])) then
    return null;
  end if;
  return (
    select max(s.number) from ids_of_company(p_company_id) i (id)
    join suppressed_officers s on s.company_id = i.id and not s.is_of_part
      and s.name_sha256 = officer_name_sha256(i.id, p_name));
end $$;

-- True for an office, stated by a source, of someone else than the people of that name who opted out; false for theirs; null where it is
-- not known.
create function is_office_of_other(p_name text, p_birth_year int, p_birth_month int, p_person_id bigint)
returns boolean language sql stable as $$
  select case
    when exists (select from suppressed_persons s where s.person_id = p_person_id) then false
    when bool_or(n.is_suppressed and n.fits) then false
    when p_person_id is not null then true
    when bool_or(n.is_suppressed or n.fits) then true
  end
  from (
    select s.person_id is not null as is_suppressed,
      p.birth_year = p_birth_year and (p_birth_month is null or p.birth_date is null
        or extract(month from p.birth_date) = p_birth_month) as fits
    from persons p left join suppressed_persons s on s.person_id = p.id
    where p_birth_year <> 0 and p.birth_year <> 0
      and fold(p.name || ' ' || p.surname) = fold(regexp_replace(p_name, '^([^,]+), *(.+)$', '\2 \1'))) n $$;

-- The first ids of the records of this company to which an office of a source belongs.
create function parts_of_office(p_company_id bigint, p_name text, p_role text, p_appointed_on date) returns setof bigint
language sql stable as $$
  select distinct case c.source when 'own' then c.id else 1000000000000 + c.number end
  from source_records r
  join source_keys ref on ref.number = r.number and ref.is_reference
  join source_keys k on k.value = ref.value and not k.is_reference
  join source_records c on c.number = k.number and c.id = p_company_id and c.entity = 1 and c.record is not null
  where r.id = p_company_id and r.entity = 3 and r.record is not null
    and r.record::json ->> 'name' = p_name and coalesce(r.record::json ->> 'role', '') = p_role
    and (r.record::json ->> 'appointedOn')::date is not distinct from p_appointed_on $$;

create or replace function hide_suppressed_officer() returns trigger language plpgsql as $$
declare
  suppression bigint;
  is_other boolean;
  parts bigint[] := '{}';
begin
  if new.name like 'suppressed:%' then
    return new;
  end if;
  suppression := officer_hidden_by(new.company_id, new.name);
  if suppression is null then
    return new;
  end if;
  -- It is not known to which part of the company an office of a file of one's own belongs.
  if new.is_sourced then
    is_other := is_office_of_other(new.name, new.birth_year, new.birth_month, new.person_id);
    if not is_other then
      parts := array(select parts_of_office(new.company_id, new.name, new.role, new.appointed_on));
    end if;
  end if;
  insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part, other_sha256)
  select distinct i.id, officer_name_sha256(i.id, new.name), suppression,
    new.is_sourced and (is_other is distinct from false or parts <> '{}' and i.id <> all(parts)),
    case when is_other then holder_sha256(new.name, new.birth_year) end
  from unnest(parts || new.company_id) i (id)
  on conflict (company_id, name_sha256) do update set is_of_part = false
    where s.is_of_part and not excluded.is_of_part;
  new.name := hidden_officer_name(officer_name_sha256(new.company_id, new.name));
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

  -- Those who are hidden with a namesake so far.
  update suppressed_officers s set is_of_part = false from persons p
  where p.id = any(p_ids) and s.is_of_part
    and s.other_sha256 = holder_sha256(p.name || ' ' || p.surname, p.birth_year);

  with person as (
    select id, fold(name || ' ' || surname) as folded, birth_year,
      extract(month from birth_date) as birth_month
    from persons where id = any(p_ids)),
  officer as (
    -- Also of those who are no longer stored.
    select o.id, o.person_id from officers o
    where o.person_id = any(p_ids) and o.name not like 'suppressed:%'
    union all
    select o.id, p.id
    from officers o join person p on p.birth_year = o.birth_year
      and p.folded = fold(regexp_replace(o.name, '^([^,]+), *(.+)$', '\2 \1'))
    where o.person_id is null and o.birth_year <> 0
      and (o.birth_month is null or p.birth_month is null or p.birth_month = o.birth_month)
      and not exists (
        select from persons other
        where fold(other.name || ' ' || other.surname) = p.folded
          and other.birth_year = p.birth_year and other.birth_year <> 0 and other.id <> p.id
          and (o.birth_month is null or other.birth_date is null
            or extract(month from other.birth_date) = o.birth_month))),
  -- Theirs, each once.
  own as (
    select id, min(person_id) as person_id from officer group by id),
  hidden as (
    select distinct o.company_id, officer_name_sha256(o.company_id, o.name) as name_sha256
    from officers o join own using (id)),
  -- All of that name in the company: the next register cannot distinguish them by its hash.
  taken as (
    delete from officers o using hidden h
    where o.company_id = h.company_id and o.name not like 'suppressed:%'
      and officer_name_sha256(o.company_id, o.name) = h.name_sha256
    returning o.*, h.name_sha256),
  office as (
    select t.*, own.id is not null as is_own, own.person_id as own_person_id,
      own.id is null and t.is_sourced
        and coalesce(is_office_of_other(t.name, t.birth_year, t.birth_month, t.person_id), false) as is_other,
      array(
        select parts_of_office(t.company_id, t.name, t.role, t.appointed_on) where t.is_sourced) as parts
    from taken t left join own using (id)),
  -- Only for results: a record of which all offices of that name are known to be of others, where it is known which ones have theirs.
  noted as (
    insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part, other_sha256)
    select i.id, officer_name_sha256(i.id, o.name), suppression,
      bool_or(is_other and i.id = any(parts))
        and not bool_or(not is_other and i.id = any(parts) or is_own and parts = '{}'),
      min(holder_sha256(o.name, o.birth_year)) filter (where is_other and i.id = any(parts))
    from office o cross join lateral ids_of_company(o.company_id) i (id)
    group by 1, 2
    on conflict (company_id, name_sha256) do update set number = excluded.number, is_of_part = false
      where s.is_of_part and not excluded.is_of_part)
  insert into officers (company_id, name, role, appointed_on, resigned_on, is_sourced, person_id)
  select company_id, hidden_officer_name(name_sha256), role, appointed_on, resigned_on, is_sourced,
    coalesce(person_id, own_person_id)
  from office
  on conflict (company_id, name, role, appointed_on) do nothing;
end $$;
