-- Ten fields of everybody, in the order of their ids, by hand: what a database administrator would type.
\set ON_ERROR_STOP on
begin;
set local search_path = graph, public;
copy (
select p.id as "person.id", p.name as "person.name", p.surname as "person.surname",
  p.email as "person.email", p.work_email as "person.workEmail", p.position as "person.position",
  nullif(p.company_id, 0) as "person.companyId", p.locality as "person.locality", p.phone as "person.phone",
  p.mobile as "person.mobile"
from persons p
where p.id >= 1 and not exists (select from suppressed_persons s where s.person_id = p.id)
order by p.id
) to stdout with (format csv, header true)
\g reference.csv
commit;
