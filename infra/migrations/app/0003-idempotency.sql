-- Answers kept for callers who send a request again with its Idempotency-Key.
create table idempotency_keys (
  account_id uuid not null references accounts,
  live boolean not null,
  method text not null,
  path text not null,
  key text not null,
  -- The claim in force: who answers must still hold it. A claim that ran out may be taken over.
  claim uuid not null,
  claimed_until timestamptz not null,
  -- Known once answered: SHA-256 of what was asked, and the answer.
  request_sha256 bytea,
  status int,
  body jsonb,
  created_at timestamptz not null default now(),
  primary key (account_id, live, method, path, key),
  check ((status is null) = (request_sha256 is null) and (status is null) = (body is null))
);
create index idempotency_keys_age on idempotency_keys (created_at);
