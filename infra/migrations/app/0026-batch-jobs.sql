-- Jobs about a whole batch (its split, its end, its quote) are claimed from its row, as chunks are from theirs; the
-- queue only wakes workers. So accounts take turns, and failures are counted over restarts.
alter table batches
  -- Claims in a row that did not end well. Those that the database or the store made fail do not count.
  add column job_attempts int not null default 0,
  -- No claim before: a pause after a failure, or until the rows per minute of the key allow a quote.
  add column job_after timestamptz,
  -- The worker that claimed the job holds it until then.
  add column job_lease_until timestamptz,
  -- Since when the object that the batch reads has been missing from the store.
  add column object_missing_since timestamptz;

-- One for each job, of the batches that wait for it. None names a column that a chunk's commit changes.
create index batches_to_split on batches (account_id, created_at)
  where state in ('created', 'validating', 'cancelling') and chunks_total is null;
create index batches_to_finish on batches (account_id, created_at)
  where state in ('finalizing', 'cancelling') and chunks_total is not null;
create index batches_to_quote on batches (account_id, created_at)
  where state = 'ready' and quote ->> 'state' = 'running';
create index batches_job_held on batches (account_id) where job_lease_until is not null;
