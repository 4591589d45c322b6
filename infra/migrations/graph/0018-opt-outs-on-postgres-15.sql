-- Before version 18 Postgres compares bytes, but has no `min` of them: there every opt-out failed, and so did `enrich migrate`,
-- which opts a person of the test graph out.
-- Runs with 0.1.0

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
  -- Only for results: a record of which all offices of that name are known to be of others, where it is known which ones have
  -- theirs.
  noted as (
    insert into suppressed_officers as s (company_id, name_sha256, number, is_of_part, other_sha256)
    select i.id, officer_name_sha256(i.id, o.name), suppression,
      bool_or(is_other and i.id = any(parts))
        and not bool_or(not is_other and i.id = any(parts) or is_own and parts = '{}'),
      decode(min(encode(holder_sha256(o.name, o.birth_year), 'hex')) filter (where is_other and i.id = any(parts)), 'hex')
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
