-- A change of a person changes the directors of companies: an officer is matched to the only person of a name and birth, or to a
-- linked one, and to none who opted out. The change lists these companies too, so that a local copy answers with their
-- directors. The officers who are, were or may be the person are written again, which notes their companies: few people of
-- most graphs have a year of birth, and fewer are officers.
-- Runs with 0.1.0

-- Follows the statements on `persons`, and on `suppressed_persons`.
create function note_changed_directors() returns trigger
language plpgsql set search_path from current as $$
declare
  change bigint := nullif(current_setting('enrich.change_of_' || tg_table_schema, true), '')::bigint;
  people text;
begin
  -- A whole change lists nothing.
  if not exists (select from officers)
    or coalesce((select is_whole from graph_changes where number = change), false)
  then
    return null;
  end if;
  if tg_table_name = 'suppressed_persons' then
    people := 'select p.id, p.name, p.surname, p.birth_year, p.birth_date
      from changed join persons p on p.id = changed.person_id';
    if tg_op = 'UPDATE' then
      people := people || ' union ' || replace(people, 'changed', 'replaced');
    end if;
  else
    people := 'select id, name, surname, birth_year, birth_date from changed';
    if tg_op = 'UPDATE' then
      people := format('(%1$s except %2$s) union all (%2$s except %1$s)',
        people, replace(people, 'changed', 'replaced'));
    end if;
  end if;
  execute format(
    'with people as (%s),
    meant as (
      select o.id from people p join officers o on o.person_id = p.id
      union
      select o.id from people p join officers o on o.person_id is null and o.birth_year <> 0
        and o.birth_year = p.birth_year and p.birth_year <> 0
        and fold(regexp_replace(o.name, ''^([^,]+), *(.+)$'', ''\2 \1'')) = fold(p.name || '' '' || p.surname))
    update officers o set person_id = o.person_id from meant where o.id = meant.id', people);
  return null;
end $$;

create trigger note_inserted after insert on persons referencing new table as changed
  for each statement execute function note_changed_directors();
create trigger note_updated after update on persons
  referencing new table as changed old table as replaced
  for each statement execute function note_changed_directors();
create trigger note_deleted after delete on persons referencing old table as changed
  for each statement execute function note_changed_directors();
create trigger note_truncated after truncate on persons
  for each statement execute function note_changed_records();

create trigger directors_inserted after insert on suppressed_persons referencing new table as changed
  for each statement execute function note_changed_directors();
create trigger directors_updated after update on suppressed_persons
  referencing new table as changed old table as replaced
  for each statement execute function note_changed_directors();
create trigger directors_deleted after delete on suppressed_persons referencing old table as changed
  for each statement execute function note_changed_directors();
