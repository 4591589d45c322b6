-- The opt-out of an officer of a company that others became a part of holds for these too: earlier results name them, and so does the
-- register once they are parted again.
-- Names of one company that are hidden as one name are one row, so an import has to know the name that is stored.
-- Runs with 0.1.0

-- The number of the opt-out that hides officers of this name in this company, null for none.
create function officer_hidden_by(p_company_id bigint, p_name text) returns bigint language plpgsql stable as $$
declare
  suppression bigint;
begin
  if exists (select from suppressed_officers where company_id = p_company_id) then
    select number into suppression from suppressed_officers
    where company_id = p_company_id and name_sha256 = officer_name_sha256(p_company_id, p_name);
  end if;
  if suppression is null then
    select max(s.number) into suppression
    from merged_ids m join suppressed_officers s on s.company_id = m.id
    where m.entity = 1 and m.into_id = p_company_id and s.name_sha256 = officer_name_sha256(m.id, p_name);
  end if;
  return suppression;
end $$;

-- The `officers.name` of an officer of this name.
create function stored_officer_name(p_company_id bigint, p_name text) returns text language sql stable as $$
  select case when officer_hidden_by(p_company_id, p_name) is null then p_name
    else hidden_officer_name(officer_name_sha256(p_company_id, p_name)) end $$;

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
  insert into suppressed_officers (company_id, name_sha256, number)
  values (new.company_id, hash, suppression) on conflict do nothing;
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
  noted as (
    insert into suppressed_officers (company_id, name_sha256, number)
    select company_id, name_sha256, suppression from hidden
    union
    select m.id, officer_name_sha256(m.id, o.name), suppression
    from officers o join officer using (id)
    join merged_ids m on m.entity = 1 and m.into_id = o.company_id
    on conflict do nothing)
  insert into officers (company_id, name, role, appointed_on, resigned_on, is_sourced, person_id)
  select company_id, hidden_officer_name(name_sha256), role, appointed_on, resigned_on, is_sourced,
    coalesce(person_id, (select min(officer.person_id) from officer where officer.id = taken.id))
  from taken
  on conflict (company_id, name, role, appointed_on) do nothing;
end $$;
