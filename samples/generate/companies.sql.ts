/**
 * Statements that generate companies. `salt` is the seed times 4096: each property of a row draws with its own
 * salt (companies 0 to 199), so properties are independent of each other.
 */
import type { Sql } from '../../src/core/db/client.ts';
import { companyIdentifierCodes } from '../../src/core/graph/identifier-kinds.ts';

/** A range of ids, both ends included, and the total number of companies. */
export interface CompanySlice {
  salt: number;
  fromId: number;
  toId: number;
}

/**
 * Stores the words of each company for the later statements: `words_companies`, one row per company. A brand and a
 * sector together occur once; the former brand is a different one.
 */
export async function createCompanyWords(
  tx: Sql,
  { salt, companies }: { salt: number; companies: number },
): Promise<void> {
  await tx`
    create temp table words_companies on commit drop as
    with sizes as (
      select count(*) filter (where list = 'beginning') as b,
        count(*) filter (where list = 'middle') as m,
        count(*) filter (where list = 'ending') as e, count(*) filter (where list = 'sector') as s
      from words_lists
    ), numbered as (
      select id, draw_now.n as n, (draw_now.n + total / 2) % total as former, z.*
      from sizes z
      cross join lateral (select b * m * e * s as total) all_names
      cross join generate_series(1, ${companies}::bigint) as id
      cross join lateral (select pg_temp.spread(id, ${salt}::bigint, total) as n) draw_now
    )
    select id::bigint,
      b1.text || m1.text || e1.text as brand, s1.text as sector,
      b2.text || m2.text || e2.text as former_brand,
      lower((b1.text || m1.text || e1.text) collate "C") as brand_slug,
      lower(s1.text collate "C") as sector_slug
    from numbered c
    join words_lists b1 on b1.list = 'beginning' and b1.place = n % b
    join words_lists m1 on m1.list = 'middle' and m1.place = n / b % m
    join words_lists e1 on e1.list = 'ending' and e1.place = n / b / m % e
    join words_lists s1 on s1.list = 'sector' and s1.place = n / b / m / e
    join words_lists b2 on b2.list = 'beginning' and b2.place = former % b
    join words_lists m2 on m2.list = 'middle' and m2.place = former / b % m
    join words_lists e2 on e2.list = 'ending' and e2.place = former / b / m % e`;
  await tx`create unique index on words_companies (id)`;
  await tx`analyze words_companies`;
}

/** Inserts the companies of a slice. */
export async function insertCompanies(tx: Sql, slice: CompanySlice): Promise<void> {
  const { salt, fromId, toId } = slice;
  await tx`
    insert into companies (id, created_at, when_updated, name, domain, website,
      professional_network,
      registry_number, registry_country, phone, email, twitter, industry_id, head_count, employees,
      founded, summary, logo, street, postcode, locality, location_geo, city_id, region_id,
      country_id, domains, aliases, former_names, sic_codes)
    select id, created_at, created_at + pg_temp.draw(id, ${salt + 2}, 600) * interval '1 day',
      name, domain, 'https://www.' || domain,
      case when pg_temp.draw(id, ${salt + 3}, 100) < 80 then brand_slug || '-' || sector_slug end,
      registry_number, case when registry_number is not null then iso2 end,
      phone, case when pg_temp.draw(id, ${salt + 5}, 100) < 60 then 'info@' || domain end,
      case when pg_temp.draw(id, ${salt + 6}, 100) < 30 then left(brand, 10) || '_hq' end,
      1 + pg_temp.draw(id, ${salt + 7}, (select count(*) from industries)),
      case when employees < 10 then '1-9' when employees < 50 then '10-49'
        when employees < 250 then '50-249' when employees < 500 then '250-499'
        when employees < 1000 then '500-999' when employees < 5000 then '1000-4999'
        else '5000-19999' end,
      employees, (2023 - pg_temp.draw(id, ${salt + 8}, 90))::text,
      brand || ' is a provider of ' || sector_slug || ' in ' || city || '.',
      case when domain is not null and pg_temp.draw(id, ${salt + 9}, 100) < 55
        then 'https://logos.example/' || domain || '.png' end,
      street, postcode, locality, geo, city_id, region_id, country_id,
      case when domain is null then '{}'
        when pg_temp.draw(id, ${salt + 10}, 100) < 12
        then array[domain, brand_slug || '-group-' || id || '.example'] else array[domain] end,
      case when pg_temp.draw(id, ${salt + 11}, 100) < 15 then array[brand] else '{}' end,
      case when pg_temp.draw(id, ${salt + 12}, 100) < 8
        then array[former_brand || ' ' || sector || ' ' || form] else '{}' end,
      case when iso2 = 'GB' then array[lpad((1100 + pg_temp.draw(id, ${salt + 13}, 95000))::text,
        5, '0')]
        else '{}' end
    from (${companyFacts(tx, slice)}) made
    where id between ${fromId}::bigint and ${toId}::bigint
    order by id`;
}

/** Everything that takes more than one draw or a word table, one row per company. */
function companyFacts(tx: Sql, { salt, fromId, toId }: CompanySlice) {
  return tx`
    select w.*, c.iso2, c.id as country_id, city.id as city_id, city.region_id, city.name as city,
      city.locality, city.geo, f.form, w.brand || ' ' || w.sector || ' ' || f.form as name,
      timestamp '2018-01-01' + pg_temp.draw(w.id, ${salt + 1}, 1700) * interval '1 day'
        + pg_temp.draw(w.id, ${salt + 20}, 86400) * interval '1 second' as created_at,
      case when pg_temp.draw(w.id, ${salt + 21}, 100) < 92 then w.brand_slug
        || case when pg_temp.draw(w.id, ${salt + 22}, 2) = 0 then '-' else '' end
        || w.sector_slug || '.example' end as domain,
      case when pg_temp.draw(w.id, ${salt + 23}, 100) < 85 then case
        when c.iso2 = 'GB' and city.locality like '%Scotland%'
          then 'SC' || lpad(pg_temp.spread(w.id, ${salt}, 800000)::text, 6, '0')
        when c.iso2 = 'GB' and city.locality like '%Northern Ireland%'
          then 'NI' || lpad(pg_temp.spread(w.id, ${salt}, 700000)::text, 6, '0')
        when c.iso2 = 'GB' then lpad((1 + pg_temp.spread(w.id, ${salt}, 15900000))::text, 8, '0')
        when c.iso2 = 'DE' then 'HRB ' || (10000 + pg_temp.spread(w.id, ${salt}, 890000))
        when c.iso2 = 'FR' then (300000000 + pg_temp.spread(w.id, ${salt}, 599999999))::text
        end end as registry_number,
      case when pg_temp.draw(w.id, ${salt + 24}, 100) < 85
        then phone.prefix || lpad((numbers.n % numbers.size)::text, c.fixed_digits, '0') end
          as phone,
      case pg_temp.draw(w.id, ${salt + 25}, 10) when 0 then 1000 + pg_temp.draw(w.id,
        ${salt + 26}, 15000)
        when 1 then 250 + pg_temp.draw(w.id, ${salt + 26}, 750)
        when 2 then 50 + pg_temp.draw(w.id, ${salt + 26}, 200)
        when 3 then 50 + pg_temp.draw(w.id, ${salt + 26}, 150)
        when 4 then 10 + pg_temp.draw(w.id, ${salt + 26}, 90)
        else 1 + pg_temp.draw(w.id, ${salt + 26}, 49) end as employees,
      replace(street.text, '#', (1 + pg_temp.draw(w.id, ${salt + 27}, 180))::text) as street,
      nullif(postcode.text, '') as postcode
    from words_companies w
    join words_country_slots slot on slot.slot
      = pg_temp.draw(w.id, ${salt + 28}, (select count(*) from words_country_slots))
    join words_countries c on c.id = slot.country_id
    cross join lateral (select (10 ^ c.fixed_digits)::bigint as size) digits
    cross join lateral (select digits.size,
      -- From the other end than the numbers of people.
      digits.size * c.fixed_prefixes - 1
        - pg_temp.spread(w.id, ${salt}, digits.size * c.fixed_prefixes) as n) numbers
    join words_phones phone on phone.country_id = c.id and phone.kind = 'fixed'
      and phone.place = numbers.n / numbers.size
    join words_cities city on city.country_id = c.id
      and city.place = pg_temp.draw(w.id, ${salt + 29}, c.cities)
    join words_forms f on f.country_id = c.id
      and f.place = pg_temp.draw(w.id, ${salt + 30}, c.forms)
    join words_streets street on street.country_id = c.id
      and street.place = pg_temp.draw(w.id, ${salt + 31}, c.streets)
    join words_postcodes postcode on postcode.country_id = c.id
      and postcode.place = pg_temp.draw(w.id, ${salt + 32}, 200)
    where w.id between ${fromId}::bigint and ${toId}::bigint`;
}

/**
 * Inserts the look-up rows of the companies of a slice. Names consist of plain words, so their canonical form is
 * the lower-case text with what remains of the legal form.
 */
export async function insertCompanyIdentifiers(tx: Sql, slice: CompanySlice): Promise<void> {
  const kind = companyIdentifierCodes;
  await tx`
    insert into company_identifiers (kind, value, company_id)
    select i.kind, i.value, c.id
    from companies c
    join words_companies w on w.id = c.id
    -- A form occurs several times in a country's list to be drawn more often.
    join (select distinct country_id, form, canonical from words_forms) f
      on f.country_id = c.country_id
      and f.form = substr(c.name, length(w.brand) + length(w.sector) + 3)
    cross join lateral (
      select distinct found.kind, found.value from (values
        (${kind.registry_number}::smallint, c.registry_country || '-'
          || replace(c.registry_number, ' ', '')),
        (${kind.domain}, c.domain),
        (${kind.alias_domain}, c.domains[2]),
        (${kind.professional_network}, c.professional_network),
        (${kind.phone}, c.phone),
        (${kind.name}, w.brand_slug || ' ' || w.sector_slug || f.canonical),
        (${kind.alias_name}, lower(c.aliases[1] collate "C")),
        (${kind.former_name}, case when c.former_names <> '{}'
          then lower(w.former_brand collate "C") || ' ' || w.sector_slug || f.canonical end)
      ) as found(kind, value)
      where found.value is not null
    ) i
    where c.id between ${slice.fromId}::bigint and ${slice.toId}::bigint`;
}

/** The planner must know the number of companies before people join them. */
export async function analyzeCompanies(tx: Sql): Promise<void> {
  await tx`analyze companies (id, name, country_id)`;
}

/** Inserts yearly figures of two companies in five, one to five years, oldest first. */
export async function insertFinancialPeriods(tx: Sql, { salt }: { salt: number }): Promise<void> {
  await tx`
    insert into financial_periods (company_id, period_end, currency, revenue, gross_profit,
      operating_profit, profit, total_assets, net_assets, cash, employees)
    select c.id, make_date(y.year::int, 12, 31), w.currency, f.revenue, f.revenue * f.margin / 100,
      f.revenue * (f.margin - 18) / 100, f.revenue * (f.margin - 23) / 100, f.revenue * 7 / 10,
      f.revenue * 3 / 10, f.revenue / 12,
      greatest(1, c.employees * (100 - 4 * (2024 - y.year)) / 100)
    from companies c
    join words_countries w on w.id = c.country_id
    cross join lateral generate_series(2024 - pg_temp.draw(c.id, ${salt + 41}, 5), 2024) as y(year)
    cross join lateral (
      select c.employees * (60000 + pg_temp.draw(c.id * 8 + y.year % 8, ${salt + 42}, 90000))
        as revenue,
        15 + pg_temp.draw(c.id * 8 + y.year % 8, ${salt + 43}, 45) as margin
    ) f
    where pg_temp.draw(c.id, ${salt + 40}, 100) < 40
    order by c.id, y.year`;
}

/**
 * Inserts directors of the British companies: people who work there, some linked and some only by name and birth,
 * and outsiders who are not in the graph.
 */
export async function insertOfficers(tx: Sql, { salt }: { salt: number }): Promise<void> {
  await tx`
    with staff as (
      select c.id as company_id, p.id as person_id, p.name || ' ' || p.surname as name,
        nullif(p.birth_year, 0) as birth_year, p.birth_date,
        row_number() over (partition by c.id order by pg_temp.draw(p.id, ${salt + 50}, 1000000),
          p.id)
          as place
      from companies c
      join persons p on p.company_id = c.id
      where c.registry_country = 'GB'
    ), seats as (
      select company_id, place, person_id as drawn_id, name, birth_year,
        coalesce(extract(month from birth_date)::int,
          1 + pg_temp.draw(person_id, ${salt + 51}, 12)::int) as birth_month,
        case when pg_temp.draw(person_id, ${salt + 52}, 100) < 60 then person_id end as person_id
      from staff where place <= 3
      union all
      select c.id, 3 + n, c.id * 4 + n, given.native || ' ' || family.native,
        (1945 + pg_temp.draw(c.id * 4 + n, ${salt + 53}, 50))::int,
        (1 + pg_temp.draw(c.id * 4 + n, ${salt + 54}, 12))::int, null
      from companies c
      cross join generate_series(1, 2) as n
      join words_culture_slots english on english.slot = 0 and english.country_id = c.country_id
      join words_names given on given.culture = english.culture and given.kind = 'male'
        and given.place = pg_temp.draw(c.id * 4 + n, ${salt + 55}, english.males)
      join words_names family on family.culture = english.culture and family.kind = 'family'
        and family.place = pg_temp.draw(c.id * 4 + n, ${salt + 56}, english.families)
      where c.registry_country = 'GB' and n <= 1 + pg_temp.draw(c.id, ${salt + 57}, 2)
    )
    insert into officers (id, company_id, name, role, appointed_on, resigned_on, birth_year,
      birth_month, person_id)
    overriding system value
    select row_number() over (order by company_id, place), company_id, name,
      case pg_temp.draw(drawn_id, ${salt + 58}, 6) when 0 then 'secretary' else 'director' end,
      date '2008-01-01' + pg_temp.draw(drawn_id, ${salt + 59}, 5000)::int,
      case when pg_temp.draw(drawn_id, ${salt + 60}, 100) < 20
        then date '2022-01-01' + pg_temp.draw(drawn_id, ${salt + 61}, 900)::int end,
      birth_year, case when birth_year is not null then birth_month end, person_id
    from seats
    order by company_id, place
    on conflict do nothing`;
  await tx`select setval(pg_get_serial_sequence('officers', 'id'),
    coalesce((select max(id) from officers), 1))`;
}
