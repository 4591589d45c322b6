-- Exports: the people that a filter means, written to a file. An export is a batch whose rows are the
-- people that its filter meant when it began: it has chunks, parts, reservations and states like a list's.

alter table batches
  add column kind text not null default 'list' check (kind in ('list', 'export')),
  -- The search as it was sent, a query string.
  add column filter text,
  -- How its results are given back unless a download says otherwise.
  add column format text,
  add column gzip boolean,
  -- The first so many people, by id; null for all of them.
  add column max_results int check (max_results > 0),
  alter column upload_key drop not null,
  alter column upload_bytes drop not null,
  add check ((kind = 'list') = (upload_key is not null and upload_bytes is not null)),
  add check ((kind = 'export') = (filter is not null and format is not null and gzip is not null)),
  add check (kind = 'export' or max_results is null);

-- Lists and exports have a page of their own.
create index batches_of_kind on batches (account_id, kind, live, created_at desc, id desc);
drop index batches_account;
