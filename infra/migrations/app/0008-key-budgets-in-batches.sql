-- The credits that a key may spend in a UTC day bind its batches as they bind its single calls. Locks:
-- batch, chunk, reservation, wallet, and the key's budget last.

alter table key_budgets
  -- Null lifts the bound. The row stays: what is reserved today is given back to it.
  alter column credits_per_day drop not null,
  -- What batches of the key took of the day, reserved or charged; `spent` is what its single calls did.
  add column spent_by_batches bigint not null default 0 check (spent_by_batches >= 0);

-- The day of the key's budget that a reservation takes from; null where the key has none. What is voided
-- is given back to that day alone, and what is settled stays spent on it.
alter table reservations add column budget_day date;

alter table batches add constraint batches_reason_known
  check (reason in ('insufficient_credits', 'key_budget', 'user'));

create function utc_today() returns date stable language sql
  as $$ select (now() at time zone 'UTC')::date $$;

-- What a key may still spend today; null without a bound, below 0 where the bound was lowered since. A
-- transaction that began before midnight may meet a row of the day after: that day is counted on, never
-- begun anew.
create function credits_left_today(budget key_budgets) returns bigint stable language sql
  as $$ select budget.credits_per_day
    - case when budget.day >= utc_today() then budget.spent + budget.spent_by_batches else 0 end $$;
