-- Where pages of searches began, for callers who page by `skip`: the next page is a step from there and
-- not a walk from the beginning. Shared by all processes, and worth nothing after a while; so it is not
-- logged, and a crash may take it.
create unlogged table page_hints (
  account_id uuid not null,
  live boolean not null,
  filter_sha256 bytea not null,
  position bigint not null check (position > 0),
  last_id bigint not null,
  expires_at timestamptz not null,
  primary key (account_id, live, filter_sha256, position)
);
create index page_hints_age on page_hints (expires_at);

-- Whom an account does not want to find: an e-mail address by the SHA-256 of its canonical form, or all
-- of a domain. Such people are in no search, preview or export of the account.
create table do_not_contact (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  email_sha256 bytea,
  domain text,
  created_at timestamptz not null default now(),
  check ((email_sha256 is null) <> (domain is null)),
  unique nulls not distinct (account_id, live, email_sha256, domain)
);
create index do_not_contact_account on do_not_contact (account_id, live, id);
