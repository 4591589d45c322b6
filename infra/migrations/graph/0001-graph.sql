-- The graph of people and companies. Applied once for each of the schemas `graph` (live keys) and
-- `graph_test` (test keys); names are unqualified on purpose, the runner sets the search path.

-- Case- and accent-folded text, for comparing names. Built-ins only, so it is immutable and an
-- index may hold it.
create function fold(value text) returns text
  language sql immutable parallel safe strict
  return lower(regexp_replace(normalize(value, nfkd), '[\u0300-\u036f]', '', 'g'));

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
  sic_codes text[] not null default '{}'
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
  position text not null default '',
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

-- The look-up tables. (kind, value) is not unique: switchboards and shared mailboxes are real. The
-- key starts with the value, so that a look-up is one descent of an index that holds the answer;
-- measured 25 % less CPU than (kind, value). Kinds are the codes of src/core/graph/identifier-kinds.ts.
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

-- The answer as it is sent: every field of the record as text, in the order of the record, separated
-- by the unit separator (0x1F). Written by the loader in the transaction that writes the record, so a
-- batch reads one narrow row per match and renders nothing.
create table person_records (
  id bigint primary key,
  company_id bigint not null,
  record text not null
);

-- The same with the long cells left empty (`long` in src/core/graph/fields.ts). A list that asks for names,
-- addresses and numbers reads this: half the bytes, and as many more rows on a page.
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
  birth_month int check (birth_month between 1 and 12),
  person_id bigint,
  unique nulls not distinct (company_id, name, role, appointed_on)
);

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
  primary key (company_id, period_end)
);

-- People who opted out. The hashes of the identifiers they named stay, so that a later import of the
-- same person under another id is suppressed as well; the ids are what a look-up checks.
create table suppressed_identifiers (
  value_sha256 bytea primary key,
  created_at timestamptz not null default now()
);

create table suppressed_persons (
  person_id bigint primary key,
  created_at timestamptz not null default now()
);
