-- People who sign in: passwords of accounts, and sessions, each of which presents a key.

alter table accounts
  -- scrypt with its parameters and salt; null for an account that nobody signs in to.
  add column password_hash text,
  add constraint accounts_password_email check (password_hash is null or email is not null);
-- An address that signs in means one account, however it is spelt.
create unique index accounts_sign_in on accounts (lower(email)) where password_hash is not null;

-- The key that sessions with a password present: one per account and mode. Nobody knows its text, and
-- lists of keys leave it out.
alter table api_keys add column is_console boolean not null default false;
create unique index api_keys_console on api_keys (account_id, mode)
  where is_console and revoked_at is null;

-- A session is one more way to present a key: limits, scopes, budgets and ownership are the key's.
create table sessions (
  -- Of the cookie's text, which is kept nowhere.
  token_sha256 bytea primary key,
  account_id uuid not null references accounts,
  key_id uuid not null references api_keys,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_account on sessions (account_id);
create index sessions_expiry on sessions (expires_at);
