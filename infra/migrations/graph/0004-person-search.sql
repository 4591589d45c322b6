-- Person search: one narrow row for each person, with what filters compare as numbers and folded text.
-- It is written beside the stored record, in the same transaction. A row of `persons` has a kilobyte or
-- more, a row here some 250 bytes: what must be walked (pages of common filters, skips, counts, the
-- preview) reads a fifth of the pages.

-- Lowest and highest number of a text such as `45,000-55,000`, `250+` or `<20,000`; null when it is none.
-- By comparing forms, because taking matches out of a text costs a hundred times as much.
create function number_range(value text) returns int[]
language plpgsql immutable parallel safe strict as $$
declare
  plain text := translate(value, ', $£€', '');
begin
  if plain ~ '^[0-9]{1,9}-[0-9]{1,9}$' then
    return array[split_part(plain, '-', 1)::int, split_part(plain, '-', 2)::int];
  elsif plain ~ '^[0-9]{1,9}$' then
    return array[plain::int, plain::int];
  elsif plain ~ '^(>[0-9]{1,9}|[0-9]{1,9}[+])$' then
    return array[translate(plain, '>+', '')::int, 2147483647];
  elsif plain ~ '^<[0-9]{1,9}$' then
    return array[0, translate(plain, '<', '')::int];
  end if;
  return null;
end $$;

-- What texts are compared by; a text of which nothing is left matches nobody. Immutable, so that the
-- planner folds the values of a filter once and estimates with them.
create function fold_all(texts text[]) returns text[]
  language sql immutable parallel safe strict
  return array(select f from unnest(texts) t cross join lateral btrim(fold(t)) f where f <> '');

-- Words of a text, for texts in which all words are to be found.
create function folded_words(value text) returns text[]
  language sql immutable parallel safe strict
  return regexp_split_to_array(btrim(regexp_replace(fold(value),
    '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+',
    ' ', 'g')), ' ');

create table person_search (
  id bigint primary key,
  company_id bigint not null,
  -- Bit n: the field n + 3 of the person record is not absent (the first three always are there).
  present bigint not null,
  created_at timestamp not null,
  when_updated timestamp not null,
  position_id int not null,
  industry_id int not null,
  city_id int not null,
  country_id int not null,
  region_id int not null,
  birth_year int not null,
  years_experience int not null,
  -- Null where the record says nothing that can be read.
  salary_min int,
  salary_max int,
  -- Head count of the company: its range, else its employees.
  staff_min int,
  staff_max int,
  gender text collate "C" not null,
  -- Folded, as all texts here.
  name text collate "C" not null,
  surname text collate "C" not null,
  -- The position as the person calls it, else the name of the position's row.
  position_name text collate "C" not null,
  skills text[] collate "C" not null
);

-- Writes the search rows of these people anew; only those that differ. Unqualified names mean the graph
-- of the caller. Planned with the ids at hand: a plan for any number of ids would look up each one.
create function refresh_person_search(p_ids bigint[]) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  insert into person_search as s (id, company_id, present, created_at, when_updated, position_id,
    industry_id, city_id, country_id, region_id, birth_year, years_experience, salary_min, salary_max,
    staff_min, staff_max, gender, name, surname, position_name, skills)
  select r.id, r.company_id,
      ((r.title <> '')::int::bigint << 0) |
      ((r.name <> '')::int::bigint << 1) |
      ((r.surname <> '')::int::bigint << 2) |
      ((r.gender <> '')::int::bigint << 3) |
      ((r.birth_date is not null)::int::bigint << 4) |
      ((r.birth_year <> 0)::int::bigint << 5) |
      ((coalesce(r.domain, '') <> '')::int::bigint << 6) |
      ((r.email <> '')::int::bigint << 7) |
      ((r.work_email <> '')::int::bigint << 8) |
      ((r.professional_network <> '')::int::bigint << 9) |
      ((r.professional_network_connections <> 0)::int::bigint << 10) |
      ((coalesce(r.professional_network_status, '') <> '')::int::bigint << 11) |
      ((coalesce(r.twitter, '') <> '')::int::bigint << 12) |
      ((coalesce(r.twitter_status, '') <> '')::int::bigint << 13) |
      ((r.social_a_id <> '')::int::bigint << 14) |
      ((r.social_a_username <> '')::int::bigint << 15) |
      ((coalesce(r.social_a_status, '') <> '')::int::bigint << 16) |
      ((r.industry_id <> 0)::int::bigint << 17) |
      ((industry.id is not null)::int::bigint << 18) |
      ((r.position <> '')::int::bigint << 19) |
      ((r.position_id <> 0)::int::bigint << 20) |
      ((job.id is not null)::int::bigint << 21) |
      ((r.experience <> '')::int::bigint << 22) |
      ((r.inferred_salary <> '')::int::bigint << 23) |
      ((r.inferred_years_experience <> 0)::int::bigint << 24) |
      ((r.skills <> '')::int::bigint << 25) |
      ((r.summary <> '')::int::bigint << 26) |
      ((coalesce(r.school, '') <> '')::int::bigint << 27) |
      ((coalesce(r.profile_language, '') <> '')::int::bigint << 28) |
      ((r.language <> '')::int::bigint << 29) |
      ((coalesce(r.service_categories, '') <> '')::int::bigint << 30) |
      ((r.past_company <> '')::int::bigint << 31) |
      ((r.past_company_id is not null)::int::bigint << 32) |
      ((coalesce(r.past_companies, '[]') <> '[]')::int::bigint << 33) |
      ((r.company_id <> 0)::int::bigint << 34) |
      ((employer.id is not null)::int::bigint << 35) |
      ((r.current_company_id is not null)::int::bigint << 36) |
      ((coalesce(r.current_companies, '[]') <> '[]')::int::bigint << 37) |
      ((r.locality <> '')::int::bigint << 38) |
      ((r.location_geo <> '')::int::bigint << 39) |
      ((r.street <> '')::int::bigint << 40) |
      ((coalesce(r.postcode, '') <> '')::int::bigint << 41) |
      ((coalesce(r.ip_address, '') <> '')::int::bigint << 42) |
      ((r.city_id <> 0)::int::bigint << 43) |
      ((city.id is not null)::int::bigint << 44) |
      ((r.country_id <> 0)::int::bigint << 45) |
      ((country.id is not null)::int::bigint << 46) |
      ((r.region_id is not null)::int::bigint << 47) |
      ((region.id is not null)::int::bigint << 48) |
      ((r.phone <> '')::int::bigint << 49) |
      ((coalesce(r.mobile, '') <> '')::int::bigint << 50) |
      ((coalesce(r.phone_status, '') <> '')::int::bigint << 51) |
      ((coalesce(r.mobile_status, '') <> '')::int::bigint << 52) |
      ((coalesce(r.email_status, '') <> '')::int::bigint << 53) |
      ((coalesce(r.work_email_status, '') <> '')::int::bigint << 54) |
      ((r.data_source_type <> 0)::int::bigint << 55) |
      ((r.status_type <> 0)::int::bigint << 56) |
      ((r.bounce_response_type <> 0)::int::bigint << 57) |
      ((coalesce(r.profile_image, '') <> '')::int::bigint << 58) |
      ((coalesce(r.profile_image_mapping, '') <> '')::int::bigint << 59) |
      ((coalesce(r.last_post, '') <> '')::int::bigint << 60) |
      ((r.last_post_date is not null)::int::bigint << 61)
      , r.created_at, r.when_updated, r.position_id, r.industry_id, r.city_id, r.country_id,
    coalesce(r.region_id, 0), r.birth_year, r.inferred_years_experience, salary[1], salary[2],
    coalesce(staff[1], employer.employees), coalesce(staff[2], employer.employees), r.gender,
    btrim(fold(r.name)), btrim(fold(r.surname)),
    btrim(fold(coalesce(nullif(r.position, ''), job.name, ''))),
    case when r.skills = '' then '{}' else
      array_remove(regexp_split_to_array(btrim(fold(r.skills)), '\s*,\s*'), '') end
  from unnest(p_ids) listed (id)
  join persons r on r.id = listed.id
  left join positions job on job.id = r.position_id
  left join industries industry on industry.id = r.industry_id
  left join companies employer on employer.id = r.company_id
  left join cities city on city.id = r.city_id
  left join countries country on country.id = r.country_id and country.name <> ''
  left join regions region on region.id = r.region_id and region.name <> ''
  cross join lateral (select number_range(nullif(r.inferred_salary, '')) as salary,
    number_range(employer.head_count) as staff offset 0) ranges
  on conflict (id) do update set company_id = excluded.company_id, present = excluded.present,
    created_at = excluded.created_at, when_updated = excluded.when_updated,
    position_id = excluded.position_id, industry_id = excluded.industry_id,
    city_id = excluded.city_id, country_id = excluded.country_id, region_id = excluded.region_id,
    birth_year = excluded.birth_year, years_experience = excluded.years_experience,
    salary_min = excluded.salary_min, salary_max = excluded.salary_max,
    staff_min = excluded.staff_min, staff_max = excluded.staff_max, gender = excluded.gender,
    name = excluded.name, surname = excluded.surname, position_name = excluded.position_name, skills = excluded.skills
  where s.* is distinct from excluded.*;
end $$;

select refresh_person_search(array(select id from persons order by id));

-- Every answer is in the order of the id, so these indexes go on with it: the people of one value are read
-- in order, and the first hundred end the reading. Values that most of the graph shares (sex, age, salary,
-- head count, presence, country) have none: walking the primary key finds a page of them sooner.
create index person_search_position on person_search (position_id, id);
create index person_search_position_name on person_search (position_name, id);
create index person_search_industry on person_search (industry_id, id);
create index person_search_city on person_search (city_id, id);
create index person_search_company on person_search (company_id, id);
create index person_search_surname on person_search (surname, id);
-- What changed since last night.
create index person_search_updated on person_search (when_updated);

-- All that is compared as one value, in one index: conditions that meet in few people are met inside of
-- it, whichever they are. Two of the indexes above would do it for a first page, but not behind a
-- cursor: the planner takes no bitmaps together that both use the condition on the id, and read 7,600 pages
-- for 110 people of a city and a position instead of 130. For all eight columns it is smaller (50 MB for a
-- million people) than two of the others.
create extension if not exists btree_gin schema public;
create index person_search_values on person_search using gin (
  position_id public.int4_ops, position_name public.text_ops, industry_id public.int4_ops,
  city_id public.int4_ops, region_id public.int4_ops, country_id public.int4_ops,
  company_id public.int8_ops, skills);

-- What people are looked up by beside their identifiers.
create index persons_email on persons (btrim(fold(email))) where email <> '';
create index persons_work_email on persons (btrim(fold(work_email))) where work_email <> '';
create index persons_professional_network on persons (btrim(fold(professional_network)))
  where professional_network <> '';
create index persons_domain on persons (btrim(fold(domain))) where domain <> '';
create index companies_name on companies (btrim(fold(name)));

-- A title says the position, a city the country: multiplied as if independent, the planner would think
-- such people a hundred times rarer than they are.
create statistics person_search_place (dependencies, mcv) on city_id, region_id, country_id
  from person_search;
create statistics person_search_work (dependencies, mcv) on position_id, position_name, industry_id
  from person_search;
-- Of a bit the planner knows nothing; these are the ones that the specification asks for.
create statistics person_search_has_email on ((present & 128) <> 0) from person_search;
create statistics person_search_has_work_email on ((present & 256) <> 0) from person_search;
create statistics person_search_has_twitter on ((present & 4096) <> 0) from person_search;
create statistics person_search_has_social_a on ((present & 16384) <> 0) from person_search;
create statistics person_search_has_phone on ((present & 562949953421312) <> 0) from person_search;
create statistics person_search_has_mobile on ((present & 1125899906842624) <> 0) from person_search;
