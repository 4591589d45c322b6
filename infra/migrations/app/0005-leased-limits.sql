-- Takes tokens as before (see 0004), with times that are rounded down to whole microseconds for the whole
-- cost: rounded up, a bucket of 7 a minute missed its seventh token by three microseconds and told one
-- token too few.
create or replace function take_tokens(
  p_owner uuid, p_name text, p_per_minute int, p_cost int,
  out admitted boolean, out remaining int, out full_in interval, out retry_in interval
) language plpgsql as $$
declare
  microsecond constant interval := interval '1 microsecond';
  capacity constant interval := interval '1 minute';
  moment timestamptz := clock_timestamp();
  gained_in interval := (60000000::bigint * p_cost / p_per_minute) * microsecond;
  previous timestamptz;
  next timestamptz;
begin
  insert into rate_buckets (owner, name, full_at) values (p_owner, p_name, moment)
    on conflict do nothing;
  select full_at into previous from rate_buckets where owner = p_owner and name = p_name for update;
  moment := greatest(moment, clock_timestamp());
  previous := greatest(previous, moment);
  next := previous + gained_in;
  admitted := next - moment <= capacity or previous = moment;
  if admitted then
    update rate_buckets set full_at = next where owner = p_owner and name = p_name;
    previous := next;
    retry_in := interval '0';
  else
    retry_in := least(next - capacity, previous) - moment;
  end if;
  full_in := previous - moment;
  remaining := greatest(0, floor(extract(epoch from capacity - full_in) * p_per_minute / 60))::int;
end $$;

-- Grants part of a key's day to a store that counts by itself: as much as is wanted and left. What is
-- granted counts as used, so that whatever becomes of it, the day's cap is never passed.
create function lease_requests(
  p_owner uuid, p_day date, p_per_day int, p_wanted int, out granted int, out total int
) language plpgsql as $$
begin
  insert into day_counts (owner, day, requests) values (p_owner, p_day, 0) on conflict do nothing;
  select requests into total from day_counts where owner = p_owner and day = p_day for update;
  granted := greatest(0, least(p_wanted, p_per_day - total));
  if granted > 0 then
    total := total + granted;
    update day_counts set requests = total where owner = p_owner and day = p_day;
  end if;
end $$;
