-- Identifiers of people who left the graph, because an import was undone or a snapshot no longer has them: an opt-out by one
-- of them finds the person in results that were made before. Housekeeping deletes them with the last of those.
-- Runs with 0.1.0

create table former_identifiers (
  -- Of the value alone, as in a list of hashes.
  value_sha256 bytea not null,
  -- As in `person_identifiers`.
  kind smallint not null,
  person_id bigint not null,
  left_at timestamptz not null default now(),
  primary key (value_sha256, kind, person_id)
);

-- Returns the people who had one of these values under one of the kinds when they left, by the person that they became a
-- part of, if any. A person who is in the graph again is found by the values of today.
create function people_who_left(p_hashes bytea[], p_kinds smallint[]) returns setof bigint
  language sql stable as $$
  select coalesce(m.into_id, f.person_id)
  from former_identifiers f left join merged_ids m on m.entity = 2 and m.id = f.person_id
  where f.value_sha256 = any(p_hashes) and f.kind = any(p_kinds)
    and not exists (select from persons p where p.id = f.person_id) $$;
