-- An import asks for the stored names of all officers of thousands of companies, of which few have hidden ones.
-- Runs with 0.1.0

-- Those of these companies that have hidden officers: of all others the stored name is the given one.
create function companies_hiding_officers(p_ids bigint[]) returns setof bigint language sql stable as $$
  select c.id from unnest(p_ids) c (id)
  where exists (select from suppressed_officers s where s.company_id = c.id)
    or exists (
      select from merged_ids m join suppressed_officers s on s.company_id = m.id
      where m.entity = 1 and m.into_id = c.id) $$;
