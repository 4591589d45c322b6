-- An officer who opted out stays unnamed when the company becomes a part of another one: the hash of the name has the company's id.
-- Runs with 0.1.0

create or replace function hide_suppressed_officer() returns trigger language plpgsql as $$
declare
  hash bytea;
  suppression bigint;
begin
  if new.name like 'suppressed:%' then
    return new;
  end if;
  if exists (select from suppressed_officers where company_id = new.company_id) then
    hash := officer_name_sha256(new.company_id, new.name);
    select number into suppression from suppressed_officers
    where company_id = new.company_id and name_sha256 = hash;
  end if;
  if suppression is null then
    select max(s.number) into suppression
    from merged_ids m join suppressed_officers s on s.company_id = m.id
    where m.entity = 1 and m.into_id = new.company_id
      and s.name_sha256 = officer_name_sha256(m.id, new.name);
    if suppression is null then
      return new;
    end if;
    hash := officer_name_sha256(new.company_id, new.name);
    insert into suppressed_officers (company_id, name_sha256, number)
    values (new.company_id, hash, suppression) on conflict do nothing;
  end if;
  new.name := hidden_officer_name(hash);
  new.birth_year := null;
  new.birth_month := null;
  return new;
end $$;
