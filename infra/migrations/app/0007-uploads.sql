-- Files that callers put into the object storage themselves, before they make a batch of them.

create table uploads (
  id uuid primary key,
  account_id uuid not null references accounts,
  live boolean not null,
  -- Of the object that the presigned address writes; it may never come.
  key text not null unique,
  created_at timestamptz not null default now(),
  -- When a batch was made of it: once.
  used_at timestamptz
);
create index uploads_age on uploads (created_at);
