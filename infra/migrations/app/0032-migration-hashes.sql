-- The SHA-256 of each migration's file, in hex, so that a file which is edited after it was applied is
-- refused by name. Null until the first run of a version that stores it.
alter table public.migrations add column sha256 text;
