/**
 * Statements that generate people. `salt` is the seed times 4096: each property of a row draws with its own salt
 * (people 200 to 399), so properties are independent of each other.
 */
import type { Sql } from '../../src/core/db/client.ts';
import { personIdentifierCodes } from '../../src/core/graph/identifier-kinds.ts';

/** A range of ids, both ends included. */
export interface PersonSlice {
  salt: number;
  fromId: number;
  toId: number;
}

/** Creates `words_people`: the identity of each person, for the later statements. Filled by `stagePeople`. */
export async function createPeopleStage(tx: Sql): Promise<void> {
  await tx`
    create temp table words_people (
      id bigint primary key, company_id bigint, country_id int, city_id int, gender text,
      given text, family text, given_latin text, family_latin text, mailbox text
    ) on commit drop`;
}

/**
 * Decides name, employer and place of the people of a slice. A few companies employ many and most employ few: the
 * square of a uniform draw.
 */
export async function stagePeople(
  tx: Sql,
  slice: PersonSlice & { companies: number },
): Promise<void> {
  const { salt, fromId, toId, companies } = slice;
  await tx`
    insert into words_people
    select p.id, p.company_id, p.country_id,
      coalesce(p.company_city_id, country.first_city_id
        + pg_temp.draw(p.id, ${salt + 206}, country.cities)),
      p.gender, given.native, family.native, given.latin, family.latin,
      case coalesce(p.company_id, 0) % 4
        when 0 then given.latin || '.' || family.latin
        when 1 then left(given.latin, 1) || family.latin
        when 2 then given.latin || '_' || family.latin
        else left(given.latin, 1) || '.' || family.latin end
    from (
      select d.id, c.id as company_id, coalesce(c.country_id, slot.country_id) as country_id,
        case when pg_temp.draw(d.id, ${salt + 205}, 100) < 75 then c.city_id end as company_city_id,
        case when pg_temp.draw(d.id, ${salt + 201}, 100) < 54 then 'male' else 'female' end
          as gender
      from (
        select id, pg_temp.draw(id, ${salt + 202}, 2147483648) as even
        from generate_series(${fromId}::bigint, ${toId}::bigint) as id
      ) d
      left join companies c on pg_temp.draw(d.id, ${salt + 203}, 100) < 92
        and c.id = 1 + pg_temp.spread(((d.even * d.even) >> 31) * ${companies}::bigint >> 31,
          ${salt}, ${companies}::bigint)
      join words_country_slots slot on slot.slot
        = pg_temp.draw(d.id, ${salt + 204}, (select count(*) from words_country_slots))
    ) p
    join words_countries country on country.id = p.country_id
    join words_culture_slots chosen on chosen.country_id = p.country_id
      and chosen.slot = pg_temp.draw(p.id, ${salt + 207}, 10)
    join words_names given on given.culture = chosen.culture and given.kind = p.gender
      and given.place = pg_temp.draw(p.id, ${salt + 208},
        case p.gender when 'male' then chosen.males else chosen.females end)
    join words_names family on family.culture = chosen.culture and family.kind = 'family'
      and family.place = pg_temp.draw(p.id, ${salt + 209}, chosen.families)
    order by p.id`;
}

/** Numbers the mailboxes of namesakes in one company; the first by id has no number. */
export async function numberNamesakes(tx: Sql): Promise<void> {
  await tx`analyze words_people`;
  await tx`
    update words_people p set mailbox = p.mailbox || doubles.place
    from (
      select id, row_number() over (partition by company_id, mailbox order by id) as place
      from words_people where company_id is not null
    ) doubles
    where doubles.id = p.id and doubles.place > 1`;
}

/** Inserts the people of a slice. */
export async function insertPeople(
  tx: Sql,
  slice: PersonSlice & { companies: number },
): Promise<void> {
  const { salt } = slice;
  await tx`
    insert into persons (id, created_at, when_updated, title, name, surname, gender, birth_date,
      birth_year, domain, email, work_email, professional_network, professional_network_connections,
      professional_network_status, twitter, twitter_status, social_a_id, social_a_username,
      social_a_status, industry_id, position, position_id, experience, inferred_salary,
      inferred_years_experience, skills, summary, school, profile_language, language,
      service_categories, past_company, past_company_id, past_companies, company_id,
      current_company_id, current_companies, locality, location_geo, street, postcode, ip_address,
      city_id, country_id, region_id, phone, mobile, phone_status, mobile_status, email_status,
      work_email_status, data_source_type, status_type, bounce_response_type, profile_image,
      last_post, last_post_date)
    select id, created_at, created_at + pg_temp.draw(id, ${salt + 221}, 500) * interval '1 day',
      honorific, given, family,
      case when pg_temp.draw(id, ${salt + 222}, 100) < 92 then gender else '' end,
      case when birth_year <> 0 and pg_temp.draw(id, ${salt + 223}, 2) = 0
        then make_date(birth_year::int,
          1 + pg_temp.draw(id, ${salt + 224}, 12)::int,
        1 + pg_temp.draw(id, ${salt + 225}, 28)::int) end,
      birth_year, domain, email, work_email, handle,
      case when handle = '' then 0 else 3 + pg_temp.draw(id, ${salt + 226}, 900) end,
      case when handle <> '' and pg_temp.draw(id, ${salt + 227}, 4) = 0 then 'active' end,
      twitter,
      case when twitter is not null and pg_temp.draw(id, ${salt + 228}, 4) = 0 then 'active' end,
      social_id, case when social_id = '' then '' else given_latin || '.' || social_id end, null,
      industry_id, title, position_id,
      title || coalesce(' at ' || company, '') || ' (' || 2024 - years % 6 || '-); '
        || 'earlier at ' || past_company || ' (' || 2019 - years % 7 || '-' || 2024 - years % 6
          || ')',
      to_char(salary, 'FM999,999') || '-' || to_char(salary + 10000, 'FM999,999'), years, skills,
      'Experienced in ' || skills || '. Based in ' || city || '.',
      case when pg_temp.draw(id, ${salt + 229}, 100) < 40 then 'University of ' || city end,
      case when pg_temp.draw(id, ${salt + 230}, 100) < 20 then 'en' end, languages,
      case when pg_temp.draw(id, ${salt + 231}, 100) < 5 then 'consulting, training' end,
      case when has_past then past_company else '' end, case when has_past then past_company_id end,
      case when has_past and pg_temp.draw(id, ${salt + 232}, 2) = 0 then jsonb_build_array(
        jsonb_build_object('id', past_company_id, 'name', past_company)) end,
      coalesce(company_id, 0),
      case when pg_temp.draw(id, ${salt + 233}, 100) < 60 then company_id end,
      case when company_id is not null and pg_temp.draw(id, ${salt + 234}, 100) < 40 then
        jsonb_build_array(jsonb_build_object('id', company_id, 'name', company)) end,
      locality, geo, street, postcode,
      case when pg_temp.draw(id, ${salt + 235}, 100) < 5
        then '192.0.2.' || pg_temp.draw(id, ${salt + 236}, 256) end,
      city_id, country_id, region_id, phone, mobile,
      case when phone <> '' and pg_temp.draw(id, ${salt + 237}, 3) = 0 then 'valid' end,
      case when mobile is not null and pg_temp.draw(id, ${salt + 238}, 3) = 0 then 'valid' end,
      case when email <> '' and pg_temp.draw(id, ${salt + 239}, 2) = 0 then 'valid' end,
      case when work_email <> '' then (array['invalid', 'catch_all', 'unknown', 'valid'])
        [least(4, 1 + pg_temp.draw(id, ${salt + 240}, 14))] end,
      1 + pg_temp.draw(id, ${salt + 241}, 5), 1 + pg_temp.draw(id, ${salt + 242}, 3),
      pg_temp.draw(id, ${salt + 243}, 3),
      case when handle <> '' and pg_temp.draw(id, ${salt + 244}, 2) = 0
        then 'https://images.example/' || handle || '.jpg' end,
      case when posted_at is not null then 'Our ' || split_part(skills, ',', 1) || ' news' end,
        posted_at
    from (${personContacts(tx, slice)}) made
    order by id`;
}

/** Contacts of each person, one row per person; on top of `personFacts`. */
function personContacts(tx: Sql, slice: PersonSlice & { companies: number }) {
  const { salt } = slice;
  return tx`
    select f.*,
      case when pg_temp.draw(f.id, ${salt + 251}, 100) < 30 then given_latin || '.' || family_latin
        || pg_temp.draw(f.id, ${salt + 252}, 10000) || '@' || private_mail.text else '' end
          as email,
      case when domain is null or pg_temp.draw(f.id, ${salt + 253}, 100) >= 76 then ''
        when pg_temp.draw(f.id, ${salt + 254}, 100) = 0 then shared.text || '@' || domain
        when pg_temp.draw(f.id, ${salt + 254}, 100) < 4 then initcap(mailbox collate "C") || '@'
          || domain
        else mailbox || '@' || domain end as work_email,
      case when pg_temp.draw(f.id, ${salt + 255}, 100) < 60 then given_latin || '-'
        || family_latin || '-'
        || lpad(to_hex(pg_temp.spread(f.id, ${salt}, 4294967296)), 8, '0') else '' end as handle,
      case when pg_temp.draw(f.id, ${salt + 256}, 100) < 15 then initcap(left(given_latin,
        1) collate "C")
        || initcap(left(family_latin, 7) collate "C")
        || pg_temp.spread(f.id, ${salt}, 10000000) end as twitter,
      case when pg_temp.draw(f.id, ${salt + 257}, 100) < 25
        then (100000000 + pg_temp.spread(f.id, ${salt}, 899999999))::text else '' end as social_id,
      case when pg_temp.draw(f.id, ${salt + 258}, 100) >= 50 then ''
        when switchboard is not null and pg_temp.draw(f.id, ${salt + 259}, 100) < 6 then switchboard
        else fixed.prefix || lpad((fixed_n % fixed_size)::text, fixed_digits, '0') end as phone,
      case when pg_temp.draw(f.id, ${salt + 260}, 100) < 35
        then mobile.prefix || lpad((mobile_n % mobile_size)::text, mobile_digits, '0') end as mobile
    from (${personFacts(tx, slice)}) f
    join words_lists private_mail on private_mail.list = 'private_mail' and private_mail.place
      = pg_temp.draw(f.id, ${salt + 261},
        (select count(*) from words_lists where list = 'private_mail'))
    join words_lists shared on shared.list = 'mailbox' and shared.place
      = coalesce(f.company_id, 0) % (select count(*) from words_lists where list = 'mailbox')
    join words_phones fixed on fixed.country_id = f.country_id and fixed.kind = 'fixed'
      and fixed.place = fixed_n / fixed_size
    join words_phones mobile on mobile.country_id = f.country_id and mobile.kind = 'mobile'
      and mobile.place = mobile_n / mobile_size`;
}

/** Attributes and job of each person, one row per person. */
function personFacts(
  tx: Sql,
  { salt, fromId, toId, companies }: PersonSlice & { companies: number },
) {
  return tx`
    select p.*, c.name as company, c.domain, c.phone as switchboard,
      coalesce(c.industry_id, 1 + pg_temp.draw(p.id, ${salt + 271},
        (select count(*) from industries)))
        as industry_id,
      timestamp '2019-01-01' + pg_temp.draw(p.id, ${salt + 272}, 1600) * interval '1 day'
        + pg_temp.draw(p.id, ${salt + 273}, 86400) * interval '1 second' as created_at,
      case pg_temp.draw(p.id, ${salt + 274}, 20) when 0 then 'Dr' when 1 then 'Prof'
        when 2 then '' else case p.gender when 'male' then 'Mr' else 'Ms' end end as honorific,
      job.title, job.id as position_id, years.years, skills.text as skills,
      job.salary_min + 2000 * pg_temp.draw(p.id, ${salt + 275}, 10) as salary,
      case when pg_temp.draw(p.id, ${salt + 276}, 100) < 45
        then 2002 - years.years - pg_temp.draw(p.id, ${salt + 277}, 12) else 0 end as birth_year,
      past.id as past_company_id, past.brand || ' ' || past.sector as past_company,
      pg_temp.draw(p.id, ${salt + 278}, 100) < 45 as has_past,
      case when pg_temp.draw(p.id, ${salt + 279}, 100) < 8 then timestamp '2024-01-01'
        + pg_temp.draw(p.id, ${salt + 280}, 500) * interval '1 hour' end as posted_at,
      city.name as city, city.locality, city.geo, city.region_id, country.languages,
      replace(street.text, '#', (1 + pg_temp.draw(p.id, ${salt + 281}, 220))::text) as street,
      nullif(postcode.text, '') as postcode,
      country.fixed_digits, sizes.fixed_size,
      pg_temp.spread(p.id, ${salt}, sizes.fixed_size * country.fixed_prefixes) as fixed_n,
      country.mobile_digits, sizes.mobile_size,
      pg_temp.spread(p.id, ${salt}, sizes.mobile_size * country.mobile_prefixes) as mobile_n
    from words_people p
    join words_countries country on country.id = p.country_id
    cross join lateral (select (10 ^ country.fixed_digits)::bigint as fixed_size,
      (10 ^ country.mobile_digits)::bigint as mobile_size) sizes
    join words_cities city on city.id = p.city_id
    join words_level_slots level_slot on level_slot.slot = pg_temp.draw(p.id, ${salt + 282}, 100)
    join words_positions job on job.level = level_slot.level
      and job.profession = pg_temp.draw(p.id, ${salt + 283}, 30)
    cross join lateral (select job.years_min + pg_temp.draw(p.id, ${salt + 284}, 6) as years) years
    join words_skills skills on skills.profession = job.profession
      and skills.place = pg_temp.draw(p.id, ${salt + 285}, 64)
    join words_streets street on street.country_id = country.id
      and street.place = pg_temp.draw(p.id, ${salt + 286}, country.streets)
    join words_postcodes postcode on postcode.country_id = country.id
      and postcode.place = pg_temp.draw(p.id, ${salt + 287}, 200)
    join words_companies past on past.id = 1 + pg_temp.draw(p.id, ${salt + 288},
      ${companies}::bigint)
    left join companies c on c.id = p.company_id
    where p.id between ${fromId}::bigint and ${toId}::bigint`;
}

/** Inserts the look-up rows of the people of a slice; a former handle is in no field of the record. */
export async function insertPersonIdentifiers(tx: Sql, slice: PersonSlice): Promise<void> {
  const { salt, fromId, toId } = slice;
  const kind = personIdentifierCodes;
  await tx`
    insert into person_identifiers (kind, value, person_id)
    select i.kind, i.value, p.id
    from persons p
    join words_people w on w.id = p.id
    cross join lateral (
      values (${kind.professional_network}::smallint, p.professional_network),
        (${kind.email}, p.email),
        (${kind.work_email}, lower(p.work_email collate "C")),
        (${kind.phone}, p.phone),
        (${kind.phone}, nullif(p.mobile, p.phone)),
        (${kind.twitter}, lower(p.twitter collate "C")),
        (${kind.former_handle}, case when p.twitter is not null
          and pg_temp.draw(p.id, ${salt + 291}, 100) < 20
          then left(w.family_latin, 7) || '_' || pg_temp.spread(p.id, ${salt}, 10000000) end)
    ) as i(kind, value)
    where i.value <> '' and p.id between ${fromId}::bigint and ${toId}::bigint`;
}
