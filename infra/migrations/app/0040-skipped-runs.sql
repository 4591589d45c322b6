-- A run is skipped too when its account has its maximum of open lists and exports.
create or replace function record_schedule_event() returns trigger language plpgsql as $$
begin
  perform record_webhook_event(s.account_id, s.live, 'schedule.' || new.state,
    json_build_object('id', s.id, 'slot', iso_time(new.slot),
      -- Other reasons quote the filter.
      'reason', case when new.reason in ('key_revoked', 'previous_run_open', 'storage_full', 'too_many_open')
        then new.reason else 'export_refused' end,
      'links', json_build_object('self', '/v1/schedules/' || s.id,
        'runs', '/v1/schedules/' || s.id || '/runs')))
  from schedules s where s.id = new.schedule_id;
  return null;
end $$;
