-- The look-up of one row when every row is a job: the rules of the other references, for one list row.
-- $1 profile, $2 email, $3 phone, $4 handle; the result is one row or none.
with hits as (
  select k.trust, min(i.person_id) as id
  from (values
    (1, substr($1::text, 5), 1, 1), (2, $2::text, 2, 3), (3, $3::text, 4, 4),
    (4, substr($4::text, 2), 5, 5)) k (trust, value, kind_from, kind_to)
  join person_identifiers i on i.value = k.value and i.kind between k.kind_from and k.kind_to
  group by k.trust having min(i.person_id) = max(i.person_id))
select p.id, p.name, p.surname, p.email, p.work_email, p.position, nullif(p.company_id, 0) as company_id, p.locality, p.phone, p.mobile
from hits h join persons p on p.id = h.id
order by h.trust limit 1
