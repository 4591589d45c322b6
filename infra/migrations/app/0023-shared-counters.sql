-- A key that another key made counts with it: what its maker may do in a minute and a day, both do together.
-- Before, a key could make its own successors and so had its bounds again and again.

alter table api_keys
  -- The key whose counters of requests, rows and credits count for this one: its own unless a key with such a
  -- bound made it. Copied from the maker, so that a key of a key counts where the first of them does.
  add column requests_of uuid references api_keys,
  add column rows_of uuid references api_keys,
  add column credits_of uuid references api_keys;
update api_keys set requests_of = id, rows_of = id, credits_of = id;

create function count_by_itself() returns trigger language plpgsql as $$
begin
  new.requests_of := coalesce(new.requests_of, new.id);
  new.rows_of := coalesce(new.rows_of, new.id);
  new.credits_of := coalesce(new.credits_of, new.id);
  return new;
end $$;
create trigger api_keys_counters before insert on api_keys
  for each row execute function count_by_itself();

alter table api_keys
  alter column requests_of set not null,
  alter column rows_of set not null,
  alter column credits_of set not null;

-- The bound of a key stands in its own row of `key_budgets`, what was spent in the row of `credits_of`.
-- What counts of a row today; a transaction that began before midnight may meet a row of the day after: that
-- day is counted on, never begun anew. (A process of the version before calls `credits_left_today`.)
create function credits_taken_today(counter key_budgets) returns bigint stable language sql
  as $$ select case when counter.day >= utc_today()
    then counter.spent + counter.spent_by_batches else 0 end $$;
