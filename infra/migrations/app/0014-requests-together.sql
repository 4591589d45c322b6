-- Counts the calls of a key that came together: one lock and one write for minute and day, however many
-- they are. Answers what stood there before and how many are admitted, always the first of them; what
-- each call is told follows from that. The times are whole microseconds since 1970.
create function take_requests(
  p_owner uuid, p_per_minute int, p_per_day int, p_calls int,
  out moment bigint, out full_at bigint, out used int, out admitted int
) language plpgsql as $$
declare
  today date := (clock_timestamp() at time zone 'UTC')::date;
  -- Rounded down: a limit is never missed by rounding.
  gained_in bigint := 60000000 / p_per_minute;
begin
  loop
    select d.requests, (extract(epoch from b.full_at) * 1000000)::bigint into used, full_at
    from day_counts d join rate_buckets b on b.owner = d.owner and b.name = 'requests'
    where d.owner = p_owner and d.day = today for update;
    exit when found;
    insert into day_counts (owner, day, requests) values (p_owner, today, 0) on conflict do nothing;
    insert into rate_buckets (owner, name, full_at) values (p_owner, 'requests', clock_timestamp())
      on conflict do nothing;
  end loop;
  -- Read after the wait for the lock: time that passed meanwhile counts.
  moment := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  full_at := greatest(full_at, moment);
  admitted := greatest(0, least(
    p_calls, p_per_day - used, (moment + 60000000 - full_at) / nullif(gained_in, 0)));
  if admitted > 0 then
    update day_counts set requests = used + admitted where owner = p_owner and day = today;
    update rate_buckets set full_at =
      timestamptz '1970-01-01 00:00:00+00'
        + (take_requests.full_at + admitted * gained_in) * interval '1 microsecond'
    where owner = p_owner and name = 'requests';
  end if;
end $$;

-- `take_request` stays for processes of the version before, which run while an upgrade is under way.
