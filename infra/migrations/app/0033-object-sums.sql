-- Checksums of stored objects, compared wherever an object is read. Each is a CRC-32, null for what a version
-- before this one wrote: of that the length alone is compared.

alter table batches
  add column upload_crc32 bigint,
  -- Of the first 65,536 bytes, which previews read alone.
  add column upload_head_crc32 bigint,
  -- Of the object at `canonical_key`.
  add column canonical_bytes bigint,
  add column canonical_crc32 bigint,
  -- When the scrub last read all objects of the batch, and how many of them were damaged or missing then.
  add column objects_checked_at timestamptz,
  add column objects_damaged int not null default 0;

-- Of the bytes from `byte_from` to `byte_to`.
alter table chunks add column crc32 bigint;

alter table parts
  add column crc32 bigint,
  -- Of the object that holds whom the part shows; null for a part that shows no people.
  add column ids_bytes bigint,
  add column ids_crc32 bigint;

-- The scrub takes the batch whose objects nobody has read for longest.
create index batches_objects_checked on batches ((coalesce(objects_checked_at, created_at)))
  where files_deleted_at is null;

-- A process of the version before this one, still running during an upgrade, replaces the object of a part and
-- knows nothing of its checksums: those of the old object must not be held against the new one.
create function forget_old_sums() returns trigger language plpgsql as $$
begin
  new.crc32 := null;
  new.ids_bytes := null;
  new.ids_crc32 := null;
  return new;
end $$;
create trigger parts_forget_old_sums before update of object_key on parts
  for each row when (new.object_key <> old.object_key and new.crc32 is not distinct from old.crc32)
  execute function forget_old_sums();
