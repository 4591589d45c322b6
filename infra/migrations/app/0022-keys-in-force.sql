-- Whether a key, by its row, was neither revoked nor has ended by itself. By the clock and not by the moment at
-- which the transaction began: a statement that waited for a lock asks about the time after its wait.
create function is_in_force(key api_keys) returns boolean volatile language sql
  as $$ select coalesce(least(key.revoked_at, key.expires_at) > clock_timestamp(), true) $$;
