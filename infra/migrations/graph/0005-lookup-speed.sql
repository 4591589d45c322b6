-- Autocomplete in one round trip and without a search by trigrams. With 50,000 job titles and 150,000
-- cities, on a busy machine, misspelt and very common words took up to a hundred milliseconds.

-- A range of beginnings is ranked from the index alone. People were part of another index before, so
-- a changed count costs no more than it did.
drop index lookup_values_folded;
create index lookup_values_folded on lookup_values (kind, folded) include (people, id)
  where name <> '';

-- What is left of the first seven letters of a word when up to `p_slips` of them (at most 2) are lost.
-- Two words that lie so many slips apart (a letter too many, too few, another one, two swapped) have one of
-- these in common: each slip loses at most one letter of either. This is the symmetric deletion of
-- SymSpell (Wolf Garbe, 2012), cut as there, so that a long word has no more than 29.
create function word_remains(p_word text, p_slips int) returns text[]
language plpgsql immutable parallel safe strict as $$
declare
  start constant text := left(p_word, 7);
  shorter text;
  remains text[] := array[start];
begin
  for place in 1 .. length(start) loop
    shorter := overlay(start placing '' from place for 1);
    remains := remains || shorter;
    continue when p_slips < 2;
    for further in place .. length(shorter) loop
      remains := remains || overlay(shorter placing '' from further for 1);
    end loop;
  end loop;
  return remains;
end $$;

-- Only words of eight letters and more may be meant with two slips; see `core/lookups`.
drop index lookup_vocabulary_trigrams;
create index lookup_vocabulary_remains on lookup_vocabulary
  using gin (word_remains(word, case when length(word) >= 8 then 2 else 1 end))
  where length(word) >= 3;

drop function similar_words;
-- Words that each of these may have been meant to be, between spaces, with many that are further off: the
-- caller counts the slips.
create function similar_words(p_kind int, p_words text[]) returns table (asked text, similar_ones text)
language sql stable set plan_cache_mode = force_generic_plan as $$
  select asked.word, (
    select string_agg(v.word, ' ') from lookup_vocabulary v
    where v.kind = p_kind and length(v.word) >= 3
      and length(v.word) between length(asked.word) - 2 and length(asked.word) + 2
      and word_remains(v.word, case when length(v.word) >= 8 then 2 else 1 end)
        && word_remains(asked.word, case when length(asked.word) >= 6 then 2 else 1 end))
  from unnest(p_words) asked (word)
$$;

-- Ids of the values that begin with the text, by people.
create function look_up_prefixed(p_kind int, p_text text, p_limit int) returns int[]
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  range_end constant text := p_text || chr(1114111);
  ids int[];
begin
  -- A text that begins many names is answered by the most frequent values, if enough of those fit.
  perform from lookup_values where kind = p_kind and name <> ''
    and folded >= p_text and folded < range_end offset 500 limit 1;
  if found then
    ids := array(
      select id from (
        select id, folded, people from lookup_values where kind = p_kind and name <> ''
        order by people desc, folded, id limit 4000) popular
      where starts_with(folded, p_text) order by people desc, folded, id limit p_limit);
    if cardinality(ids) = p_limit then return ids; end if;
  end if;
  -- Materialised, or the planner reads all values in the order of people.
  return array(
    with fitting as materialized (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
        and folded >= p_text and folded < range_end)
    select id from fitting order by people desc, folded, id limit p_limit);
end $$;

-- Ids of the names with a word that begins with this one, at most `p_limit`; a name may come twice.
create function names_with_word(p_kind int, p_word text, p_limit int) returns int[]
language sql stable set plan_cache_mode = force_generic_plan as $$
  select array(
    select w.id from lookup_words w
    where w.kind = p_kind and w.word >= p_word and w.word < p_word || chr(1114111)
    limit p_limit)
$$;

-- As below, among the `p_rows` most frequent values alone.
create function look_up_popular(p_kind int, p_text text, p_limit int, p_rows int) returns int[]
language sql stable set plan_cache_mode = force_generic_plan as $$
  select array(
    select id from (
      select id, folded, people from lookup_values where kind = p_kind and name <> ''
      order by people desc, folded, id limit p_rows) popular
    where ' ' || folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(folded, p_text)
    order by people desc, folded, id limit p_limit)
$$;

-- Ids of the values in which the words of the text begin words, in their order, by people; without those
-- that begin with the text itself. `unknown` are the words that begin no word of any name.
-- A text that more than 3,000 names may fit, by its rarest words, is looked for among the 4,000 most
-- frequent values alone: those hold the best of so many, and reading them all takes too long.
create function look_up_worded(
  p_kind int, p_text text, p_limit int, out ids int[], out unknown text[])
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  words text[];
  held int[];
  next_held int[];
begin
  -- The rarest first; of common ones the longest. Words are stored cut to 60 characters.
  select array_agg(counted.word order by counted.held, length(counted.word) desc, counted.word),
    coalesce(array_agg(counted.word) filter (where counted.held = 0), '{}')
  into words, unknown
  from (
    select asked.word, cardinality(names_with_word(p_kind, asked.word, 300)) as held
    from (select distinct left(w, 60) collate "C" from string_to_table(p_text, ' ') w)
      asked (word)) counted;
  ids := '{}';
  if cardinality(unknown) > 0 or p_limit = 0 then return; end if;
  held := names_with_word(p_kind, words[1], 300);
  if cardinality(held) = 300 then
    -- What fits many values fits enough of the very first.
    ids := look_up_popular(p_kind, p_text, p_limit, 500);
    if cardinality(ids) = p_limit then return; end if;
    held := names_with_word(p_kind, words[1], 10000);
    for place in 2 .. least(4, cardinality(words)) loop
      -- Values are read one by one: two words leave less of them than one does.
      exit when cardinality(held) <= 500;
      next_held := names_with_word(p_kind, words[place], 10000);
      if cardinality(held) = 10000 then held := next_held;
      elsif cardinality(next_held) < 10000 then
        held := array(select unnest(held) intersect select unnest(next_held));
      end if;
    end loop;
    if cardinality(held) > 1000 then
      ids := look_up_popular(p_kind, p_text, p_limit, 4000);
      if cardinality(ids) = p_limit or cardinality(held) > 3000 then return; end if;
    end if;
  end if;
  ids := array(
    select v.id from lookup_values v where v.kind = p_kind and v.id = any(held)
      and ' ' || v.folded like '% ' || replace(p_text, ' ', '% ') || '%'
      and not starts_with(v.folded, p_text)
    order by v.people desc, v.folded, v.id limit p_limit);
end $$;

-- The best values for a text as it is spelled: what begins with it, then what has words that do; those that
-- most people hold for an empty text. `folded` is the text as names are compared, `unknown` its words that
-- no name has (only where values are missing).
create function look_up(
  p_kind int, p_text text, p_limit int, out folded text, out unknown text[], out matches json)
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  ids int[] := '{}';
  worded int[];
begin
  folded := fold_words(p_text);
  unknown := '{}';
  if trim(p_text) = '' then
    ids := array(
      select v.id from lookup_values v where v.kind = p_kind and v.name <> ''
      order by v.people desc, v.folded, v.id limit p_limit);
  elsif folded <> '' then
    ids := look_up_prefixed(p_kind, folded, p_limit);
    if cardinality(ids) < p_limit then
      select w.ids, w.unknown into worded, unknown
      from look_up_worded(p_kind, folded, p_limit - cardinality(ids)) w;
      ids := ids || worded;
    end if;
  end if;
  select coalesce(json_agg(json_build_object('id', v.id, 'name', v.name, 'count', v.people)
    order by place), '[]') into matches
  from unnest(ids) with ordinality best (id, place)
  cross join lateral (
    select * from lookup_values where kind = p_kind and id = best.id limit 1) v;
end $$;
