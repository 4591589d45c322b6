-- Accounts, keys and money.

create table accounts (
  id uuid primary key,
  name text not null,
  email text,
  created_at timestamptz not null default now()
);

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  mode text not null check (mode in ('live', 'test')),
  -- What a person recognises the key by; the key itself is shown once and kept nowhere.
  prefix text not null,
  key_sha256 bytea not null unique,
  scopes text[] not null,
  requests_per_minute int not null default 60 check (requests_per_minute > 0),
  requests_per_day int not null default 10000 check (requests_per_day > 0),
  rows_per_minute int check (rows_per_minute > 0),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

-- One wallet per account. What is reserved is still in the balance; nobody else can spend it.
create table wallets (
  account_id uuid primary key references accounts,
  balance bigint not null default 0,
  reserved bigint not null default 0,
  check (0 <= reserved and reserved <= balance)
);

-- Append-only: the sum of an account's lines is its balance, always.
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  -- What the line is for; the same reference twice is the same event, and moves nothing twice.
  reference text not null,
  kind text not null check (kind in ('grant', 'charge', 'refund')),
  amount bigint not null check (amount <> 0),
  operation text,
  units bigint,
  batch_id uuid,
  created_at timestamptz not null default now(),
  unique (account_id, reference),
  check ((kind = 'charge') = (amount < 0))
);
create index ledger_entries_account_time on ledger_entries (account_id, created_at);

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger_entries is append-only: write a new line instead';
end $$;
create trigger ledger_entries_append_only
  before update or delete on ledger_entries
  for each row execute function refuse_ledger_change();
create trigger ledger_entries_no_truncate
  before truncate on ledger_entries
  for each statement execute function refuse_ledger_change();
