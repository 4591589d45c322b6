-- An export that has charged for no one tells a webhook no more than a call: at its end the people of its file alone.
-- Runs with 0.1.0

create or replace function record_batch_event() returns trigger language plpgsql as $$
declare
  is_export boolean := new.kind = 'export';
  is_told boolean := new.kind = 'list' or new.matched > new.owned;
  -- The people of a completed export that delivered only people whom its account owned.
  owned_alone integer := case when new.state = 'completed' and new.matched = new.owned then new.owned else 0 end;
begin
  perform record_webhook_event(new.account_id, new.live,
    case when is_export then 'export.' else 'batch.' end || new.state,
    -- A batch pauses repeatedly, and ends once.
    new.id || case when new.state = 'paused' then ' ' || new.revision else '' end,
    -- Neither name nor filter nor the text of an error: a customer's text may name people.
    json_build_object(
      'id', new.id, 'state', new.state, 'reason', new.reason, 'error_code', new.error ->> 'code',
      'operation', new.operation, 'schedule_id', new.schedule_id,
      'rows', json_build_object(
        'total', case when is_told then new.rows_total else nullif(owned_alone, 0) end,
        'matched', case when is_told then new.matched else owned_alone end,
        'no_match', case when is_told then new.no_match else 0 end,
        'ambiguous', new.ambiguous, 'invalid', new.invalid,
        'suppressed', case when is_told then new.suppressed else 0 end,
        'duplicate', new.duplicate, 'error', case when is_told then new.error_rows else 0 end,
        'not_processed', case when is_told then new.not_processed else 0 end),
      'credits', json_build_object('charged', new.credits_charged, 'max', new.max_credits),
      'links', json_build_object(
        'self', case when is_export then '/v1/exports/' else '/v1/batches/' end || new.id)));
  return null;
end $$;
