-- The graph of people and companies. Applied once for each of the schemas `graph` (live keys) and
-- `graph_test` (test keys); names are unqualified on purpose, the runner sets the search path.

-- Text as it is compared; src/core/lib/fold.ts is the twin, and says what is folded. Built-ins only, so it is
-- immutable and can be indexed. Not strict, because a strict function with a case is not inlined; of null it is null.
create function fold(value text) returns text
  language sql immutable parallel safe
  return case when octet_length(value) = length(value) then replace(lower(value), '`', '''')
    else replace(replace(replace(replace(translate(
      lower(regexp_replace(normalize(replace(value, E'\u00b4', ''''), nfkd), '[\u0300-\u036f]', '', 'g')),
      E'\u00f8\u0111\u00f0\u0142\u0131\u03c2\u0060\u2018\u2019\u201b\u02bc\u2032'
        '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
      E'oddli\u03c3''''''''''''-------'),
      E'\u00df', 'ss'), E'\u00e6', 'ae'), E'\u0153', 'oe'), E'\u00fe', 'th') end;

create table countries (
  id int primary key,
  name text not null default '',
  iso2 text
);

create table regions (
  id int primary key,
  name text not null default '',
  country_id int not null default 0
);

create table cities (
  id int primary key,
  name text not null default '',
  country_id int not null default 0,
  region_id int not null default 0,
  created_at timestamp not null default '1970-01-01'
);

create table industries (
  id int primary key,
  name text not null
);

create table positions (
  id int primary key,
  name text not null
);

create table companies (
  id bigint primary key,
  created_at timestamp not null,
  when_updated timestamp not null,
  name text not null,
  domain text,
  website text,
  professional_network text,
  registry_number text,
  registry_country text,
  phone text,
  email text,
  twitter text,
  industry_id int,
  head_count text,
  employees int,
  founded text,
  summary text,
  logo text,
  street text,
  postcode text,
  locality text,
  location_geo text,
  city_id int,
  region_id int,
  country_id int,
  domains text[] not null default '{}',
  aliases text[] not null default '{}',
  former_names text[] not null default '{}',
  sic_codes text[] not null default '{}',
  -- The state in the words of the register, 'Dissolved' for a company that no longer exists; null when unknown.
  status text
);

create table persons (
  id bigint primary key,
  created_at timestamp not null,
  when_updated timestamp not null,
  title text not null default '',
  name text not null default '',
  surname text not null default '',
  gender text not null default '' check (gender in ('', 'male', 'female')),
  birth_date date,
  birth_year int not null default 0,
  domain text,
  email text not null default '',
  work_email text not null default '',
  professional_network text not null default '',
  professional_network_connections int not null default 0,
  professional_network_status text,
  twitter text,
  twitter_status text,
  social_a_id text not null default '',
  social_a_username text not null default '',
  social_a_status text,
  industry_id int not null default 0,
  "position" text not null default '',
  position_id int not null default 0,
  experience text not null default '',
  inferred_salary text not null default '',
  inferred_years_experience int not null default 0,
  skills text not null default '',
  summary text not null default '',
  school text,
  profile_language text,
  language text not null default '',
  service_categories text,
  past_company text not null default '',
  past_company_id bigint,
  past_companies jsonb,
  company_id bigint not null default 0,
  current_company_id bigint,
  current_companies jsonb,
  locality text not null default '',
  location_geo text not null default '',
  street text not null default '',
  postcode text,
  ip_address text,
  city_id int not null default 0,
  country_id int not null default 0,
  region_id int,
  phone text not null default '',
  mobile text,
  phone_status text,
  mobile_status text,
  email_status text,
  work_email_status text,
  data_source_type int not null default 0,
  status_type int not null default 0,
  bounce_response_type int not null default 0,
  profile_image text,
  profile_image_mapping text,
  last_post text,
  last_post_date timestamp
);

-- A renamed company re-renders the records of its people.
create index persons_company_id on persons (company_id) where company_id <> 0;

-- Directors without a stored link are matched by name and birth; most people have no birth year.
create index persons_name_birth on persons (fold(name || ' ' || surname), birth_year)
  where birth_year <> 0;

-- The look-up tables. (kind, value) is not unique: switchboards and shared mailboxes are real. The key starts with
-- the value, so that a look-up is one descent of an index that contains the result; measured 25 % less CPU than
-- (kind, value). Kinds are the codes of src/core/graph/identifier-kinds.ts.
create table person_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  person_id bigint not null,
  primary key (value, kind, person_id)
);
create index person_identifiers_person_id on person_identifiers (person_id);

create table company_identifiers (
  value text collate "C" not null,
  kind smallint not null,
  company_id bigint not null,
  primary key (value, kind, company_id)
);
create index company_identifiers_company_id on company_identifiers (company_id);

-- The record as the API returns it: every field as text, in the order of the record, separated by the unit
-- separator (0x1F). Written by the import in the transaction that writes the record, so a batch reads one narrow
-- row per match and renders nothing.
create table person_records (
  id bigint primary key,
  company_id bigint not null,
  record text not null
);

-- The same with empty long cells (`long` in src/core/graph/fields.ts). A list that requests names, addresses and
-- numbers reads this: half the bytes, and twice as many rows on a page.
create table person_briefs (
  id bigint primary key,
  brief text not null
);

create table company_records (
  id bigint primary key,
  record text not null
);

create table officers (
  id bigint generated always as identity primary key,
  company_id bigint not null,
  name text not null,
  role text not null default '',
  appointed_on date,
  resigned_on date,
  birth_year int,
  birth_month int check ((birth_month >= 1) and (birth_month <= 12)),
  person_id bigint,
  -- Derived from `source_records`; others were imported with ids of one's own.
  is_sourced boolean not null default false,
  unique nulls not distinct (company_id, name, role, appointed_on)
);

-- The officers that may be a person: by link, or by name as in registers and year of birth.
create index officers_person_id on officers (person_id) where person_id is not null;

create table financial_periods (
  company_id bigint not null,
  period_end date not null,
  currency text not null,
  revenue bigint,
  gross_profit bigint,
  operating_profit bigint,
  profit bigint,
  total_assets bigint,
  net_assets bigint,
  cash bigint,
  employees int,
  is_sourced boolean not null default false,
  primary key (company_id, period_end)
);

-- Imports of sources whose records have keys of their own (registers, datasets, CRM exports). The counts of rows are
-- those of the file: row_count = new + changed + same + rejected + suppressed. `gone_count` are earlier records that
-- the file ended, `merged_count` those of the new and changed that joined a record of another source.
create table imports (
  id bigint generated always as identity primary key,
  source text not null,
  files text[] not null,
  sha256 bytea not null,
  as_of date not null,
  -- A snapshot holds everything: what it does not name is gone.
  snapshot_of text,
  state text not null default 'running' check (state in ('running', 'done', 'undoing', 'undone')),
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  row_count int not null default 0,
  new_count int not null default 0,
  changed_count int not null default 0,
  same_count int not null default 0,
  gone_count int not null default 0,
  merged_count int not null default 0,
  rejected_count int not null default 0,
  suppressed_count int not null default 0
);
create index imports_source on imports (source, as_of);

-- The last state of every record of a source, under the key that it has there, for ever. `record` is JSON in the
-- fields of import files, without an id; null for a record that is gone. `id` is the person or company that it is a
-- part of, or the company of an officer or a financial period: 10^12 + number, until it is found to be the same as
-- another one.
create table source_records (
  number bigint generated always as identity primary key,
  source text collate "C" not null,
  key text collate "C" not null,
  -- 1 company, 2 person, 3 officer, 4 financial period.
  entity smallint not null,
  id bigint,
  import_id bigint not null,
  as_of date not null,
  hash bytea not null,
  record text,
  -- The latest split that names it and is not undone: records of different splits are never the same. 0 for none.
  apart bigint not null default 0,
  unique (source, key)
);
create index source_records_id on source_records (id, entity);
create index source_records_import on source_records (import_id);

-- The values by which records of different sources are found to be the same, and the values by which a record names
-- another one (the company of a person): `registry:GB-00048839`, `domain:example.com`, `key:hubspot/company:17`.
create table source_keys (
  value text collate "C" not null,
  is_reference boolean not null,
  number bigint not null,
  primary key (value, is_reference, number)
);
create index source_keys_number on source_keys (number);

-- The state of records before an import changed or ended them, for undoing it. A record that it brought has no row.
create table source_record_versions (
  import_id bigint not null,
  number bigint not null,
  before_import_id bigint not null,
  before_as_of date not null,
  before_hash bytea not null,
  before_record text,
  primary key (import_id, number)
);
create index source_record_versions_before on source_record_versions (before_import_id);

-- How files that no adapter knows are read: `{of, columns, country}`. Their source has the name of the mapping.
create table source_mappings (
  name text collate "C" primary key,
  mapping json not null,
  saved_at timestamptz not null default now()
);

-- Ids of records that became a part of another one; an import that is undone splits them again.
create table merged_ids (
  entity smallint not null,
  id bigint not null,
  into_id bigint not null,
  import_id bigint not null,
  merged_at timestamptz not null default now(),
  primary key (entity, id)
);
create index merged_ids_into on merged_ids (entity, into_id);

-- Records of sources that an operator took out of a person or company that they were wrongly merged into. Undoing one
-- lets them be joined again.
create table source_splits (
  id bigint generated always as identity primary key,
  entity smallint not null,
  from_id bigint not null,
  numbers bigint[] not null,
  made_at timestamptz not null default now(),
  undone_at timestamptz
);

-- People and companies whose record is to be built again from `source_records`: written in the transaction that
-- changes those, emptied by the one that builds.
create table records_to_build (
  entity smallint not null,
  id bigint not null,
  primary key (entity, id)
);

-- The rows of the file that is being imported, in its order. One import of sources at a time.
create unlogged table import_rows (
  line bigint not null,
  place int not null,
  is_counted boolean not null,
  -- 0 a record, 1 the end of a record, 2 named but unreadable, 3 an opt-out.
  state smallint not null,
  entity smallint not null,
  key text collate "C" not null,
  hash bytea not null,
  record text,
  keys text[] not null,
  refs text[] not null
);

-- People who opted out. The hashes of their identifiers stay, so that a later import of the same person under
-- another id is suppressed too; look-ups check the ids.
create table suppressed_identifiers (
  value_sha256 bytea primary key,
  created_at timestamptz not null default now()
);

create table suppressed_persons (
  person_id bigint primary key,
  created_at timestamptz not null default now(),
  number bigint not null
);
create index suppressed_persons_number on suppressed_persons (number);

-- The form in which names and queries are compared: folded words separated by single spaces. Punctuation separates
-- words, except + and # (C++, C#), so the text contains no wildcard of LIKE. Truncated, because it is indexed.
create function fold_words(value text) returns text
  language sql immutable parallel safe
  return left(trim(regexp_replace(fold(value),
    '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+',
    ' ', 'g')), 200);

-- Kinds are 1 job titles, 2 locations, 3 industries. Ids are those of positions, cities and industries; of regions
-- from 2^32 on, of countries from 2 * 2^32 on, and of titles that people have in their own words from 3 * 2^32 on. A
-- row without a name counts people whose value has no row in its own table yet; it is not shown.
create table lookup_values (
  kind smallint not null,
  id bigint not null,
  name text not null default '',
  folded text collate "C" not null default '',
  people int not null default 0,
  primary key (kind, id)
);

-- The most frequent values in the order of a result: an empty query reads the first rows, and a query that matches
-- many values finds enough of them here without reading and sorting all of them.
create index lookup_values_people on lookup_values (kind, people desc, folded, id) where name <> '';

-- Values that begin with a text: a range, because the column sorts by bytes.
create index lookup_values_folded on lookup_values (kind, folded) include (people, id)
  where name <> '';

-- The words of every name, for values in which a word begins with a text. Separate from the values, because words
-- are written once and counts change with every import.
create table lookup_words (
  kind smallint not null,
  word text collate "C" not null,
  id bigint not null,
  primary key (kind, word, id)
);

-- Each word once, for corrections of a misspelt word: a trigram index over the names themselves would find ten
-- thousand titles with `engineer` and compare all of them. A word that occurs in no name any more is harmless and
-- stays.
create table lookup_vocabulary (
  kind smallint not null,
  word text collate "C" not null,
  primary key (kind, word)
);

-- Returns the remainders of the first seven letters of a word after deleting up to `p_slips` of them (at most 2).
-- Two words with at most that many typos between them (a letter added, missing or replaced, two swapped) share one
-- of these: each typo deletes at most one letter of either. This is the symmetric deletion of SymSpell (Wolf
-- Garbe, 2012), truncated as there, so that a long word has no more than 29.
create function word_remains(p_word text, p_slips int) returns text[]
language plpgsql immutable parallel safe strict as $$
declare
  start constant text := left(p_word, 7);
  shorter text;
  remains text[] := array[start];
begin
  for place in 1 .. length(start) loop
    shorter := overlay(start placing '' from place for 1);
    remains := remains || shorter;
    continue when p_slips < 2;
    for further in place .. length(shorter) loop
      remains := remains || overlay(shorter placing '' from further for 1);
    end loop;
  end loop;
  return remains;
end $$;

-- Returns the possible corrections of each of these words, separated by spaces, including many distant ones: the
-- caller counts the typos.
create function similar_words(p_kind int, p_words text[]) returns table (asked text, similar_ones text)
language sql stable set plan_cache_mode = force_generic_plan as $$
  select asked.word, (
    select string_agg(v.word, ' ') from lookup_vocabulary v
    where v.kind = p_kind and length(v.word) >= 3
      and length(v.word) between length(asked.word) - 2 and length(asked.word) + 2
      and word_remains(v.word, case when length(v.word) >= 8 then 2 else 1 end)
        && word_remains(asked.word, case when length(asked.word) >= 6 then 2 else 1 end))
  from unnest(p_words) asked (word)
$$;

-- Titles that at least ten people have in their own words (FEW in src/core/search/free-responses.ts), as in
-- `person_search.position_name`: the text of a rarer one may describe a single person.
create table lookup_titles (
  id int generated always as identity primary key,
  title text collate "C" not null unique,
  people int not null
);

-- Names of the values of a kind: those with these ids, or all for null. A city is named with its region and
-- country, like the locality of a record, a region with its country. Unqualified names refer to the graph of the caller.
create function lookup_names(p_kind int, p_ids bigint[]) returns table (id bigint, name text)
language plpgsql stable as $$
#variable_conflict use_column
begin
  if p_kind = 1 then
    return query
      -- A derived id (from 2^30 on) is of a title in people's own words: from ten people on, as below.
      select p.id::bigint, p.name from positions p
      where (p_ids is null or p.id = any(p_ids)) and (p.id < 1073741824 or exists (
        select from lookup_values v where v.kind = 1 and v.id = p.id and v.people >= 10))
      union all
      -- The usual spelling among the first people.
      select t.id + 12884901888, coalesce((
        select mode() within group (order by r.position) from (
          select p.position from person_search s join persons p on p.id = s.id
          where s.position_name = t.title and p.position <> '' order by s.id limit 100) r), t.title)
      from lookup_titles t where p_ids is null or t.id + 12884901888 = any(p_ids);
  elsif p_kind = 2 then
    return query
      select c.id::bigint, concat_ws(', ', c.name, nullif(r.name, ''), nullif(n.name, ''))
      from cities c
      left join regions r on r.id = c.region_id
      left join countries n on n.id = c.country_id
      where c.name <> '' and (p_ids is null or c.id = any(p_ids))
      union all
      select r.id + 4294967296, concat_ws(', ', r.name, nullif(n.name, ''))
      from regions r left join countries n on n.id = r.country_id
      where r.name <> '' and (p_ids is null or r.id + 4294967296 = any(p_ids))
      union all
      select n.id + 8589934592, n.name from countries n
      where n.name <> '' and (p_ids is null or n.id + 8589934592 = any(p_ids));
  else
    return query select i.id::bigint, i.name from industries i where p_ids is null or i.id = any(p_ids);
  end if;
end $$;

-- Copies the names of these values (or of all, for null) to the tables above; only changes are written.
create function name_lookups(p_kind int, p_ids bigint[]) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  with renamed as (
    select n.id, n.name, fold_words(n.name) as folded, v.folded as folded_before
    from lookup_names(p_kind, p_ids) n
    left join lookup_values v on v.kind = p_kind and v.id = n.id
    where v.name is distinct from n.name),
  written as (
    insert into lookup_values (kind, id, name, folded)
    select p_kind, id, name, folded from renamed
    on conflict (kind, id) do update set name = excluded.name, folded = excluded.folded),
  word as (
    select distinct r.id, left(w, 60) as word
    from renamed r cross join string_to_table(r.folded, ' ') w where w <> ''),
  forgotten as (
    delete from lookup_words w
    using (select r.id, left(b, 60) as word
      from renamed r cross join string_to_table(r.folded_before, ' ') b) before
    where w.kind = p_kind and w.word = before.word and w.id = before.id
      and not exists (select from word where word.id = w.id and word.word = w.word)),
  noted as (
    insert into lookup_words (kind, word, id) select p_kind, word, id from word order by word, id
    on conflict do nothing)
  insert into lookup_vocabulary (kind, word) select distinct p_kind, word from word order by word
  on conflict do nothing;
end $$;

-- Counts the people of every title in their own words; only changes are written. A title that a position has as its
-- name is that of the position.
create function refresh_lookup_titles() returns void
language plpgsql as $$
declare
  unnamed bigint[];
begin
  -- Derived positions that fewer than ten people have now.
  with hidden as (
    update lookup_values v set name = '', folded = ''
    where v.kind = 1 and v.id between 1073741824 and 2147483647 and v.name <> '' and v.people < 10
    returning v.id)
  delete from lookup_words w using hidden h where w.kind = 1 and w.id = h.id;

  with held as materialized (
    select s.position_name as title, count(*)::int as people from person_search s
    where s.position_name <> '' group by s.position_name having count(*) >= 10),
  shown as materialized (
    select h.* from held h
    where not exists (
      select from positions p left join lookup_values v on v.kind = 1 and v.id = p.id
      where btrim(fold(p.name)) = h.title and (p.id < 1073741824 or v.people >= 10))),
  gone as (
    delete from lookup_titles t where not exists (select from shown s where s.title = t.title))
  insert into lookup_titles as t (title, people) select s.title, s.people from shown s order by s.title
  on conflict (title) do update set people = excluded.people where t.people <> excluded.people;

  delete from lookup_words w where w.kind = 1 and w.id > 12884901888
    and not exists (select from lookup_titles t where t.id = w.id - 12884901888);
  delete from lookup_values v where v.kind = 1 and v.id > 12884901888
    and not exists (select from lookup_titles t where t.id = v.id - 12884901888);
  insert into lookup_values as v (kind, id, people)
  select 1, t.id + 12884901888, t.people from lookup_titles t
  on conflict (kind, id) do update set people = excluded.people where v.people <> excluded.people;
  unnamed := array(
    select v.id from lookup_values v where v.kind = 1 and v.name = ''
      and (v.id > 12884901888 or v.id >= 1073741824 and v.people >= 10));
  perform name_lookups(1, unnamed);
end $$;

-- Rebuilds the counts and names of all values, after a load that bypassed the import.
create function rebuild_lookups() returns void
language plpgsql as $$
begin
  delete from lookup_values;
  delete from lookup_words;
  delete from lookup_vocabulary;
  delete from lookup_titles;
  insert into lookup_values (kind, id, people)
  select 1, position_id, count(*) from persons where position_id <> 0 group by position_id
  union all
  select 2, city_id, count(*) from persons where city_id <> 0 group by city_id
  union all
  select 2, region_id + 4294967296, count(*) from persons where region_id <> 0 group by region_id
  union all
  select 2, country_id + 8589934592, count(*) from persons where country_id <> 0 group by country_id
  union all
  select 3, industry_id, count(*) from persons where industry_id <> 0 group by industry_id;
  perform refresh_lookup_titles();
  perform name_lookups(1, null), name_lookups(2, null), name_lookups(3, null);
end $$;

-- Keys of names, by which candidates of a row without an identifier are found: numbers that `src/core/match/keys.ts`
-- computes, the kind of key in the last three bits.
create table person_name_keys (
  key bigint not null,
  person_id bigint not null,
  primary key (key, person_id)
);

create table company_name_keys (
  key bigint not null,
  company_id bigint not null,
  primary key (key, company_id)
);

-- All keys of each record: what a change of its names removes, without an index of the keys by record, and what names
-- are counted by. Keys that no row looks up, of given names and of words of companies, are only here.
create table keyed_persons (
  id bigint primary key,
  keys bigint[] not null
);

create table keyed_companies (
  id bigint primary key,
  keys bigint[] not null
);

-- Frequencies of words of names and of employers: keys of those kinds that at least two records share. Refreshed when
-- an import ends, so that a list has the same outcome until the next one.
create table name_counts (
  key bigint primary key,
  records int not null
);

-- One row: the counts' version, a hash of them, and the number of records that they count.
create table name_statistics (
  is_only boolean primary key default true check (is_only),
  version bigint not null,
  people int not null,
  companies int not null
);
insert into name_statistics (version, people, companies) values (0, 0, 0);

-- Counts the names again; only changes are written. Kinds: 1 family name, 2 given name, 5 word of a company, 6 people
-- of a company.
create function refresh_name_counts() returns void
language plpgsql as $$
begin
  create temp table counted on commit drop as
    select key, count(*)::int as records from keyed_persons, unnest(keys) key where key & 7 in (1, 2)
    group by key having count(*) > 1
    union all
    select key, count(*) from keyed_companies, unnest(keys) key where key & 7 = 5
    group by key having count(*) > 1
    union all
    select company_id * 8 + 6, count(*) from person_search where company_id <> 0
    group by company_id having count(*) > 1;
  delete from name_counts n where not exists (select from counted c where c.key = n.key);
  insert into name_counts as n (key, records) select key, records from counted
  on conflict (key) do update set records = excluded.records where n.records <> excluded.records;
  drop table counted;
  update name_statistics set
    version = (select coalesce(sum(hashint8extended(key, records)), 0)::numeric % 9007199254740991 from name_counts),
    people = (select count(*) from persons), companies = (select count(*) from companies);
end $$;

create table suppressions (
  number bigint generated always as identity primary key,
  created_at timestamptz not null default now()
);

-- Officers who opted out, by company and the hash of the folded name: a register does not know the graph's people,
-- and its next file names them again. Their rows in `officers` have the hash instead of the name.
create table suppressed_officers (
  company_id bigint not null,
  name_sha256 bytea not null,
  number bigint not null,
  primary key (company_id, name_sha256)
);
create index suppressed_officers_number on suppressed_officers (number);
create index officers_name_birth
  on officers (fold(regexp_replace(name, '^([^,]+), *(.+)$', '\2 \1')), birth_year)
  where person_id is null and birth_year <> 0;

create function officer_name_sha256(p_company_id bigint, p_name text) returns bytea
  language sql stable as $$ select sha256(convert_to(p_company_id || ':' || fold(p_name), 'UTF8')) $$;

-- The replacement of `officers.name` for a person who opted out.
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

-- Suppresses these people, and the officers that they are: by a stored link, or when they are the only one of that
-- name and birth, like a look-up of directors. Call it under the lock of writers.
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
  -- All of that name in the company: the next register cannot distinguish them by its hash.
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

-- Parses the lowest and highest number of a text such as `45,000-55,000`, `250+` or `<20,000`; null for other
-- texts. It compares forms, because extracting matches from a text costs a hundred times as much.
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

-- The form in which texts are compared; a text that is empty after folding matches no one. Immutable, so that the
-- planner folds the values of a filter once and estimates with them.
create function fold_all(texts text[]) returns text[]
  language sql immutable parallel safe strict
  return array(select f from unnest(texts) t cross join lateral btrim(fold(t)) f where f <> '');

-- Words of a text, for texts that must contain all words of a query.
create function folded_words(value text) returns text[]
  language sql immutable parallel safe
  return regexp_split_to_array(btrim(regexp_replace(fold(value),
    '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+',
    ' ', 'g')), ' ');

create table person_search (
  id bigint primary key,
  company_id bigint not null,
  -- Bit n: the field n + 3 of the person record is present (the first three always are).
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
  -- Null when the record's value is missing or unreadable.
  salary_min int,
  salary_max int,
  -- Head count of the company: its range, otherwise its employees.
  staff_min int,
  staff_max int,
  gender text collate "C" not null,
  -- Folded, like all texts here.
  name text collate "C" not null,
  surname text collate "C" not null,
  -- The position in the person's own words, otherwise the name of the position's row.
  position_name text collate "C" not null,
  skills text[] collate "C" not null
);

-- Every result is in the order of the id, so these indexes continue with it: the people of one value are read in
-- order, and reading ends after the first hundred. Values that most of the graph shares (sex, age, salary, head
-- count, presence, country) have none: walking the primary key finds a page of them sooner.
create index person_search_position on person_search (position_id, id);
create index person_search_position_name on person_search (position_name, id);
create index person_search_industry on person_search (industry_id, id);
create index person_search_city on person_search (city_id, id);
create index person_search_company on person_search (company_id, id);
create index person_search_surname on person_search (surname, id);

-- For searches of the changes since last night.
create index person_search_updated on person_search (when_updated);
-- All columns compared as one value, in one index: conditions that few people meet together are combined inside
-- it, whichever they are. Two of the indexes above would do for a first page, but not after a cursor: the planner
-- does not combine bitmaps that both use the condition on the id, and read 7,600 pages for 110 people of a city
-- and a position instead of 130. For all eight columns it is smaller (50 MB for a million people) than two of the
-- others. Both graph schemas use the one extension.
create extension if not exists btree_gin schema public;

create index person_search_values on person_search using gin (
  position_id public.int4_ops, position_name public.text_ops, industry_id public.int4_ops,
  city_id public.int4_ops, region_id public.int4_ops, country_id public.int4_ops,
  company_id public.int8_ops, skills, folded_words(position_name));

-- Rebuilds the search rows of these people; only changed ones. Unqualified names refer to the graph of the caller.
-- Planned with the actual ids: a generic plan would look up each one.
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

-- Indexes for looking people up by values other than identifiers.
create index persons_email on persons (btrim(fold(email))) where email <> '';
create index persons_work_email on persons (btrim(fold(work_email))) where work_email <> '';
create index persons_professional_network on persons (btrim(fold(professional_network)))
  where professional_network <> '';
create index persons_domain on persons (btrim(fold(domain))) where domain <> '';
create index companies_name on companies (btrim(fold(name)));

-- A title determines the position, a city the country: with independent estimates multiplied, the planner would
-- consider such people a hundred times rarer than they are.
create statistics person_search_place (dependencies, mcv) on city_id, region_id, country_id
  from person_search;
create statistics person_search_work (dependencies, mcv) on position_id, position_name, industry_id
  from person_search;

-- The planner knows nothing about single bits; these are the ones that the specification's filters use.
create statistics person_search_has_email on ((present & 128) <> 0) from person_search;
create statistics person_search_has_work_email on ((present & 256) <> 0) from person_search;
create statistics person_search_has_twitter on ((present & 4096) <> 0) from person_search;
create statistics person_search_has_social_a on ((present & 16384) <> 0) from person_search;
create statistics person_search_has_phone on ((present & 562949953421312) <> 0) from person_search;
create statistics person_search_has_mobile on ((present & 1125899906842624) <> 0) from person_search;

create index lookup_vocabulary_remains on lookup_vocabulary
  using gin (word_remains(word, case when length(word) >= 8 then 2 else 1 end))
  where length(word) >= 3;

-- Ids of the values that begin with the text, by people.
create function look_up_prefixed(p_kind int, p_text text, p_limit int) returns bigint[]
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  range_end constant text := p_text || chr(1114111);
  ids bigint[];
begin
  -- For a text that begins many names the most frequent values suffice, if enough of them match.
  perform from lookup_values where kind = p_kind and name <> ''
    and folded >= p_text and folded < range_end offset 500 limit 1;
  if found then
    ids := array(
      select id from (
        select id, folded, people from lookup_values where kind = p_kind and name <> ''
        order by people desc, folded, id limit 4000) popular
      where starts_with(folded, p_text) order by people desc, folded, id limit p_limit);
    if cardinality(ids) = p_limit then return ids; end if;
  end if;
  -- Materialised; otherwise the planner reads all values in the order of people.
  return array(
    with fitting as materialized (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
        and folded >= p_text and folded < range_end)
    select id from fitting order by people desc, folded, id limit p_limit);
end $$;

-- Ids of the names with a word that begins with this one, at most `p_limit`; a name may occur twice.
create function names_with_word(p_kind int, p_word text, p_limit int) returns bigint[]
language sql stable set plan_cache_mode = force_generic_plan as $$
  select array(
    select w.id from lookup_words w
    where w.kind = p_kind and w.word >= p_word and w.word < p_word || chr(1114111)
    limit p_limit)
$$;

-- As below, among the `p_rows` most frequent values only.
create function look_up_popular(p_kind int, p_text text, p_limit int, p_rows int) returns bigint[]
language sql stable set plan_cache_mode = force_generic_plan as $$
  select array(
    select id from (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
      order by people desc, folded, id limit p_rows) popular
    where ' ' || folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(folded, p_text)
    order by people desc, folded, id limit p_limit)
$$;

-- Ids of the values whose words begin with the words of the text, in their order, by people; without those that
-- begin with the text itself. `unknown` are the words that begin no word of any name. A text that more than 3,000
-- names may match, by its rarest words, is searched only among the 4,000 most frequent values: those contain the
-- best of so many, and reading all of them takes too long.
create function look_up_worded(
  p_kind int, p_text text, p_limit int, out ids bigint[], out unknown text[])
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  words text[];
  held bigint[];
  next_held bigint[];
begin
  -- The rarest first; of common ones the longest. Words are stored truncated to 60 characters.
  select array_agg(counted.word order by counted.held, length(counted.word) desc, counted.word),
    coalesce(array_agg(counted.word) filter (where counted.held = 0), '{}')
  into words, unknown
  from (
    select asked.word, cardinality(names_with_word(p_kind, asked.word, 300)) as held
    from (select distinct left(w, 60) collate "C" from string_to_table(p_text, ' ') w)
      asked (word)) counted;
  ids := '{}';
  if cardinality(unknown) > 0 or p_limit = 0 then return; end if;
  held := names_with_word(p_kind, words[1], 300);
  if cardinality(held) = 300 then
    -- A text that matches many values has enough matches among the very first.
    ids := look_up_popular(p_kind, p_text, p_limit, 500);
    if cardinality(ids) = p_limit then return; end if;
    held := names_with_word(p_kind, words[1], 10000);
    for place in 2 .. least(4, cardinality(words)) loop
      -- Values are read one by one: two words leave fewer of them than one does.
      exit when cardinality(held) <= 500;
      next_held := names_with_word(p_kind, words[place], 10000);
      if cardinality(held) = 10000 then held := next_held;
      elsif cardinality(next_held) < 10000 then
        held := array(select unnest(held) intersect select unnest(next_held));
      end if;
    end loop;
    if cardinality(held) > 1000 then
      ids := look_up_popular(p_kind, p_text, p_limit, 4000);
      if cardinality(ids) = p_limit or cardinality(held) > 3000 then return; end if;
    end if;
  end if;
  ids := array(
    select v.id from lookup_values v where v.kind = p_kind and v.id = any(held)
      and ' ' || v.folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(v.folded, p_text)
    order by v.people desc, v.folded, v.id limit p_limit);
end $$;

-- Returns the best values for a text as spelled: values that begin with it, then values with words that do; those
-- with the most people for an empty text. `folded` is the text in the form of names, `unknown` its words that
-- occur in no name (only when values are missing).
create function look_up(
  p_kind int, p_text text, p_limit int, out folded text, out unknown text[], out matches json)
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  ids bigint[] := '{}';
  worded bigint[];
begin
  folded := fold_words(p_text);
  unknown := '{}';
  if trim(p_text) = '' then
    ids := array(
      select v.id from lookup_values v where v.kind = p_kind and v.name <> ''
      order by v.people desc, v.folded, v.id limit p_limit);
  elsif folded <> '' then
    ids := look_up_prefixed(p_kind, folded, p_limit);
    if cardinality(ids) < p_limit then
      select w.ids, w.unknown into worded, unknown
      from look_up_worded(p_kind, folded, p_limit - cardinality(ids)) w;
      ids := ids || worded;
    end if;
  end if;
  select coalesce(json_agg(json_build_object('id', v.id, 'name', v.name, 'count', v.people)
    order by place), '[]') into matches
  from unnest(ids) with ordinality best (id, place)
  cross join lateral (
    select * from lookup_values where kind = p_kind and id = best.id limit 1) v;
end $$;

-- The changes of what matching reads, in the order of their commits: a transaction takes its number under the lock of
-- the graph's writers, which it holds until it has committed. The token tells two histories apart, after a restore or
-- the loss of a primary: the same number with another token is another state.
create table graph_changes (
  number bigint primary key,
  token uuid not null default gen_random_uuid(),
  changed_at timestamptz not null default now(),
  -- More records than are worth listing.
  is_whole boolean not null default false
);
insert into graph_changes (number) values (0);

-- The records that each change touched, unless it is whole. Entities are those of `source_records`.
create table changed_records (
  number bigint not null,
  entity smallint not null,
  id bigint not null,
  primary key (number, entity, id)
);

-- Notes the records of a statement's rows, `changed` (and `replaced`, the old ones of an update), as a part of its
-- transaction's change. Arguments: the entity, and the column with its id. A trigger, so that no writer can forget it;
-- with a path of its own, so that it works whatever that of the writer is.
create function note_changed_records() returns trigger
language plpgsql set search_path from current as $$
declare
  listed_max constant int := 10000;
  variable constant text := 'enrich.change_of_' || tg_table_schema;
  change bigint := nullif(current_setting(variable, true), '')::bigint;
  touches boolean := true;
  held int := 0;
begin
  if tg_op <> 'TRUNCATE' then
    execute 'select exists (select from changed)' into touches;
  end if;
  if not touches then
    return null;
  end if;
  if change is null then
    perform pg_advisory_xact_lock(hashtextextended('graph ' || tg_table_schema, 0));
    insert into graph_changes (number) select max(number) + 1 from graph_changes
      returning number into change;
    perform set_config(variable, change::text, true);
  elsif (select is_whole from graph_changes where number = change) then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    execute format(
      'insert into changed_records (number, entity, id)
       select $1, $2, id from (
         select distinct %1$I as id from changed %2$s limit $3) touched
       on conflict do nothing',
      tg_argv[1], case when tg_op = 'UPDATE' then format('union select %I from replaced', tg_argv[1]) end)
      using change, tg_argv[0]::smallint, listed_max + 1;
    select count(*) into held
    from (select from changed_records where number = change limit listed_max + 1) listed;
  end if;
  if tg_op = 'TRUNCATE' or held > listed_max then
    update graph_changes set is_whole = true where number = change;
    delete from changed_records where number = change;
  end if;
  return null;
end $$;

do $$
declare
  watched record;
begin
  for watched in
    select * from (values
      ('company_identifiers', 1, 'company_id'), ('company_records', 1, 'id'),
      ('officers', 1, 'company_id'), ('financial_periods', 1, 'company_id'),
      ('person_identifiers', 2, 'person_id'), ('person_records', 2, 'id'), ('person_briefs', 2, 'id'),
      ('suppressed_persons', 2, 'person_id')) read_by_matching (name, entity, id)
  loop
    execute format(
      'create trigger note_inserted after insert on %1$I referencing new table as changed
         for each statement execute function note_changed_records(%2$L, %3$L);
       create trigger note_updated after update on %1$I
         referencing new table as changed old table as replaced
         for each statement execute function note_changed_records(%2$L, %3$L);
       create trigger note_deleted after delete on %1$I referencing old table as changed
         for each statement execute function note_changed_records(%2$L, %3$L);
       create trigger note_truncated after truncate on %1$I
         for each statement execute function note_changed_records()',
      watched.name, watched.entity, watched.id);
  end loop;
end $$;
