-- Batches by when their files were deleted, and those with files by age: housekeeping reads what is due, not all batches.
-- Outside a transaction
-- Runs with 0.1.0

create index concurrently if not exists batches_files_deleted on batches (files_deleted_at)
  where files_deleted_at is not null;
create index concurrently if not exists batches_kept on batches (created_at)
  where files_deleted_at is null;
