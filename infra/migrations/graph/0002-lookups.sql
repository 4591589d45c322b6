-- Autocomplete of job titles, locations and industries. A value is a row of `positions`, `cities` or
-- `industries`, under the id of that row; people are counted as their records come and go.

-- Spelling mistakes are found by trigrams. Both graph schemas use the one extension.
create extension if not exists pg_trgm with schema public;

-- What names and queries are compared by: folded words between single spaces. Signs separate words,
-- except + and # (C++, C#), so the text holds no wildcard of LIKE. Cut, because an index holds it.
create function fold_words(value text) returns text
  language sql immutable parallel safe strict
  return left(trim(regexp_replace(fold(value),
    '[\u0001-\u0022\u0024-\u002a\u002c-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u3003\uff0c]+',
    ' ', 'g')), 200);

-- Kinds are 1 job titles, 2 locations, 3 industries. A row without a name counts people whose value
-- has no row in its own table yet; it is not shown.
create table lookup_values (
  kind smallint not null,
  id int not null,
  name text not null default '',
  folded text collate "C" not null default '',
  people int not null default 0,
  primary key (kind, id)
);
-- The most frequent values in the order of an answer: an empty query reads the first rows, and a query
-- that fits many values finds enough of them here without reading and sorting them all.
create index lookup_values_people on lookup_values (kind, people desc, folded, id) where name <> '';
-- Values that begin with a text: a range, because the column sorts by bytes.
create index lookup_values_folded on lookup_values (kind, folded) where name <> '';

-- The words of every name, for values in which a word begins with a text. Apart from the values,
-- because these are written once and counts change with every import.
create table lookup_words (
  kind smallint not null,
  word text collate "C" not null,
  id int not null,
  primary key (kind, word, id)
);

-- Each word once, for what a misspelt word may have meant: a trigram index over the names themselves
-- would find ten thousand titles with `engineer` and compare them all. A word that no name has any
-- more does no harm and stays.
create table lookup_vocabulary (
  kind smallint not null,
  word text collate "C" not null,
  primary key (kind, word)
);
create index lookup_vocabulary_trigrams on lookup_vocabulary using gin (word public.gin_trgm_ops);

-- Words of names that may be what a misspelt one means, most alike first. Two swapped letters in six leave
-- a similarity of 0.27, below what the operator % takes as it comes; the caller counts the slips.
create function similar_words(p_kind int, p_word text) returns table (word text)
language plpgsql stable set pg_trgm.similarity_threshold = 0.25 as $$
#variable_conflict use_column
begin
  return query select v.word from lookup_vocabulary v
    where v.word operator(public.%) p_word and v.kind = p_kind
      and length(v.word) between length(p_word) - 2 and length(p_word) + 2
    order by public.similarity(v.word, p_word) desc, v.word limit 100;
end $$;

-- Names of the values of a kind: those with these ids, or all for null. A city is named with its region
-- and country, as the locality of a record is. Unqualified names mean the graph of the caller.
create function lookup_names(p_kind int, p_ids int[]) returns table (id int, name text)
language plpgsql stable as $$
#variable_conflict use_column
begin
  if p_kind = 1 then
    return query select p.id, p.name from positions p where p_ids is null or p.id = any(p_ids);
  elsif p_kind = 2 then
    return query
      select c.id, concat_ws(', ', c.name, nullif(r.name, ''), nullif(n.name, ''))
      from cities c
      left join regions r on r.id = c.region_id
      left join countries n on n.id = c.country_id
      where c.name <> '' and (p_ids is null or c.id = any(p_ids));
  else
    return query select i.id, i.name from industries i where p_ids is null or i.id = any(p_ids);
  end if;
end $$;

-- Takes the names of these values (or of all, for null) over into the tables above; only what differs
-- is written.
create function name_lookups(p_kind int, p_ids int[]) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  with renamed as (
    select n.id, n.name, fold_words(n.name) as folded, v.folded as folded_before
    from lookup_names(p_kind, p_ids) n
    left join lookup_values v on v.kind = p_kind and v.id = n.id
    where v.name is distinct from n.name),
  written as (
    insert into lookup_values (kind, id, name, folded)
    select p_kind, id, name, folded from renamed
    on conflict (kind, id) do update set name = excluded.name, folded = excluded.folded),
  word as (
    select distinct r.id, left(w, 60) as word
    from renamed r cross join string_to_table(r.folded, ' ') w where w <> ''),
  forgotten as (
    delete from lookup_words w
    using (select r.id, left(b, 60) as word
      from renamed r cross join string_to_table(r.folded_before, ' ') b) before
    where w.kind = p_kind and w.word = before.word and w.id = before.id
      and not exists (select from word where word.id = w.id and word.word = w.word)),
  noted as (
    insert into lookup_words (kind, word, id) select p_kind, word, id from word order by word, id
    on conflict do nothing)
  insert into lookup_vocabulary (kind, word) select distinct p_kind, word from word order by word
  on conflict do nothing;
end $$;

-- Counts the people of every value anew and names every value: after a load that went around the import.
create function rebuild_lookups() returns void
language plpgsql as $$
begin
  delete from lookup_values;
  delete from lookup_words;
  delete from lookup_vocabulary;
  insert into lookup_values (kind, id, people)
  select 1, position_id, count(*) from persons where position_id <> 0 group by position_id
  union all
  select 2, city_id, count(*) from persons where city_id <> 0 group by city_id
  union all
  select 3, industry_id, count(*) from persons where industry_id <> 0 group by industry_id;
  perform name_lookups(1, null), name_lookups(2, null), name_lookups(3, null);
end $$;

select rebuild_lookups();
