-- A revoked key stays revoked when the clock of the database is set back. Only an expiry is compared with the clock.
-- Runs with 0.1.0

-- Returns true when a key, by its row, is neither revoked nor expired. By the clock and not by the start of the
-- transaction: a statement that waited for a lock checks the time after its wait.
create or replace function is_valid(key api_keys) returns boolean volatile language sql
  as $$ select key.revoked_at is null and coalesce(key.expires_at > clock_timestamp(), true) $$;
