-- Limits: token buckets by the generic cell rate algorithm (one time per bucket, the theoretical arrival
-- time, instead of a counter and a drip; see ITU-T I.371 and brandur.org/rate-limiting) and counters per
-- UTC day. The clock is the server's, so any number of processes share a bucket exactly.

create table rate_buckets (
  owner uuid not null,
  name text not null,
  -- Theoretical arrival time: when the bucket will be full again.
  full_at timestamptz not null,
  primary key (owner, name)
) with (fillfactor = 50);

create table day_counts (
  owner uuid not null,
  day date not null,
  requests int not null,
  primary key (owner, day)
) with (fillfactor = 50);

-- Takes `cost` tokens from a bucket that holds `per_minute` and gains as many a minute. A refusal takes
-- nothing. A cost above what the bucket can ever hold is admitted on a full bucket and runs it into debt.
-- Answers the tokens left, the time until the bucket is full, and for a refusal the time until the same
-- cost is admitted.
create function take_tokens(
  p_owner uuid, p_name text, p_per_minute int, p_cost int,
  out admitted boolean, out remaining int, out full_in interval, out retry_in interval
) language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  per_token interval := interval '1 minute' / p_per_minute;
  capacity interval := interval '1 minute';
  previous timestamptz;
  next timestamptz;
begin
  insert into rate_buckets (owner, name, full_at) values (p_owner, p_name, moment)
    on conflict do nothing;
  select full_at into previous from rate_buckets where owner = p_owner and name = p_name for update;
  moment := greatest(moment, clock_timestamp());
  previous := greatest(previous, moment);
  next := previous + per_token * p_cost;
  admitted := next - moment <= capacity or previous = moment;
  if admitted then
    update rate_buckets set full_at = next where owner = p_owner and name = p_name;
    previous := next;
    retry_in := interval '0';
  else
    retry_in := least(next - capacity, previous) - moment;
  end if;
  full_in := previous - moment;
  remaining := greatest(0, floor(extract(epoch from capacity - full_in) / extract(epoch from per_token)))::int;
end $$;

-- Counts one request of a key against its minute and its day, both or neither.
create function take_request(
  p_owner uuid, p_per_minute int, p_per_day int,
  out admitted boolean, out refused_by text,
  out minute_remaining int, out minute_full_in interval,
  out day_remaining int, out day_ends_in interval, out retry_in interval
) language plpgsql as $$
declare
  today date := (clock_timestamp() at time zone 'UTC')::date;
  used int;
  bucket record;
begin
  insert into day_counts (owner, day, requests) values (p_owner, today, 0) on conflict do nothing;
  select requests into used from day_counts where owner = p_owner and day = today for update;
  day_ends_in := ((today + 1)::timestamp at time zone 'UTC') - clock_timestamp();
  if used >= p_per_day then
    admitted := false;
    refused_by := 'day';
    retry_in := day_ends_in;
    -- What the minute still holds is told, not taken.
    select * into bucket from take_tokens(p_owner, 'requests', p_per_minute, 0);
  else
    select * into bucket from take_tokens(p_owner, 'requests', p_per_minute, 1);
    admitted := bucket.admitted;
    refused_by := case when admitted then null else 'minute' end;
    retry_in := bucket.retry_in;
    if admitted then
      used := used + 1;
      update day_counts set requests = used where owner = p_owner and day = today;
    end if;
  end if;
  minute_remaining := bucket.remaining;
  minute_full_in := bucket.full_in;
  day_remaining := greatest(0, p_per_day - used);
end $$;
