-- What people do with keys beside making and revoking them.

alter table api_keys
  -- What its holder calls it.
  add column name text,
  -- When a key that was rolled stops by itself; until then it works beside the new one.
  add column expires_at timestamptz;

-- The credits that single calls of a key may spend in one UTC day, where a key sets a bound, and what
-- they spent. Locked after the account's wallet.
create table key_budgets (
  key_id uuid primary key references api_keys,
  credits_per_day bigint not null check (credits_per_day > 0),
  day date not null default '1970-01-01',
  spent bigint not null default 0 check (spent >= 0)
) with (fillfactor = 50);
