-- A slot that is skipped sends its reason, also that of an account that has made its maximum of lists and exports today.
-- Runs with 0.1.0

create or replace function record_schedule_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    s.id || ' ' || iso_time(new.slot),
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Those of failed slots quote the filter.
      'reason', case when new.state = 'skipped' or new.reason = 'key_revoked'
        then new.reason else 'export_refused' end,
      'links', json_build_object('self', '/v1/schedules/' || s.id,
        'runs', '/v1/schedules/' || s.id || '/runs')))
  from schedules s where s.id = new.schedule_id;
  return null;
end $$;
