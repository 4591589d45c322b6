-- The records of a change are listed in the order of their index, and looked up before instead of on conflict, which takes half
-- of the time: no other transaction lists records under the number of a change.
-- Runs with 0.1.0

create or replace function note_changed_records() returns trigger
language plpgsql set search_path from current as $$
declare
  listed_max int;
  variable constant text := 'enrich.change_of_' || tg_table_schema;
  counter constant text := 'enrich.listed_of_' || tg_table_schema;
  change bigint := nullif(current_setting(variable, true), '')::bigint;
  touches boolean := true;
  noted int := 0;
begin
  if tg_op <> 'TRUNCATE' then
    execute 'select exists (select from changed)' into touches;
  end if;
  if not touches then
    return null;
  end if;
  if change is null then
    perform pg_advisory_xact_lock(hashtextextended('graph ' || tg_table_schema, 0));
    insert into graph_changes (number) select max(number) + 1 from graph_changes
      returning number into change;
    perform set_config(variable, change::text, true);
    perform set_config(counter, '0', true);
  elsif (select is_whole from graph_changes where number = change) then
    return null;
  end if;
  if tg_op <> 'TRUNCATE' then
    select greatest(10000, sum(reltuples) / 4) into listed_max
    from pg_class where oid in ('person_records'::regclass, 'company_records'::regclass);
    execute format(
      'insert into changed_records (number, entity, id)
       select $1, $2, id from (
         select distinct %1$I as id from changed %2$s limit $3) touched
       where not exists (
         select from changed_records n where n.number = $1 and n.entity = $2 and n.id = touched.id)
       order by id',
      tg_argv[1], case when tg_op = 'UPDATE' then format('union select %I from replaced', tg_argv[1]) end)
      using change, tg_argv[0]::smallint, listed_max + 1;
    get diagnostics noted = row_count;
    noted := noted + coalesce(nullif(current_setting(counter, true), '')::int, 0);
    perform set_config(counter, noted::text, true);
  end if;
  if tg_op = 'TRUNCATE' or noted > listed_max then
    update graph_changes set is_whole = true where number = change;
    delete from changed_records where number = change;
  end if;
  return null;
end $$;
