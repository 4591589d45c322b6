/**
 * Reads of a lead list from the graph: people in pages, each with the people who share its
 * identifiers.
 */
import type { Sql } from '../../../src/core/db/client.ts';
import { personIdentifierCodes } from '../../../src/core/graph/identifier-kinds.ts';
import { sharedMailboxes } from '../vocabulary/work.ts';

/** Required data of the person of a row. */
export type LeadNeed =
  | 'email'
  | 'phone'
  | 'professional_network'
  | 'twitter'
  | 'former_handle'
  | 'switchboard'
  | 'shared_mailbox';

/** One look-up row of a person. */
export interface LeadIdentifier {
  /** A code of `personIdentifierCodes`. */
  kind: number;
  value: string;
  /** All holders of this value, including the person, by id; at most 100. */
  owners: number[];
}

/** A person of the graph, with the data that a sales team would note. */
export interface LeadPerson {
  /** Place in the request, from 1. */
  place: number;
  id: number;
  name: string;
  surname: string;
  title: string;
  company: string;
  website: string;
  country: string;
  iso2: string;
  locality: string;
  identifiers: LeadIdentifier[];
}

/** Returns the largest person id, 0 in an empty graph. */
export async function readMaxPersonId(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select coalesce(max(id), 0) as id from persons`;
  return row?.id ?? 0;
}

/**
 * For each request the first person from `fromId` on, and then from the first id on, who has what
 * is needed. A request that no person in the graph meets has no row in the result.
 */
export async function readLeadPeople(
  sql: Sql,
  requests: readonly { need: LeadNeed; fromId: number }[],
): Promise<LeadPerson[]> {
  const kind = personIdentifierCodes;
  const needs = requests.map((request) => request.need);
  const fromIds = requests.map((request) => request.fromId);
  const isMet = sql`
    case r.need
      when 'email' then q.email <> '' or q.work_email <> ''
      when 'phone' then q.phone <> '' or q.mobile is not null
      when 'professional_network' then q.professional_network <> ''
      when 'twitter' then q.twitter is not null
      when 'former_handle' then exists (select from person_identifiers f
        where f.person_id = q.id and f.kind = ${kind.former_handle})
      when 'switchboard' then q.phone <> '' and exists (select from companies s
        where s.id = q.company_id and s.phone = q.phone)
      else split_part(q.work_email, '@', 1) = any(${[...sharedMailboxes]}::text[])
    end`;
  return await sql<LeadPerson[]>`
    select r.place, p.id, p.name, p.surname, p.position as title, coalesce(c.name, '') as company,
      coalesce(c.website, '') as website, coalesce(k.name, '') as country,
      coalesce(k.iso2, '') as iso2, p.locality, found.identifiers
    from unnest(${needs}::text[], ${fromIds}::bigint[]) with ordinality as r(need, from_id, place)
    cross join lateral (
      select coalesce(
        (select q.id from persons q where q.id >= r.from_id and ${isMet} order by q.id limit 1),
        (select q.id from persons q where ${isMet} order by q.id limit 1)) as id
    ) chosen
    join persons p on p.id = chosen.id
    left join companies c on c.id = p.company_id
    left join countries k on k.id = p.country_id
    cross join lateral (
      select jsonb_agg(jsonb_build_object('kind', i.kind, 'value', i.value, 'owners', owners.ids)
        order by i.kind, i.value) as identifiers
      from person_identifiers i
      cross join lateral (
        select jsonb_agg(o.person_id order by o.person_id) as ids from (
          select distinct o.person_id from person_identifiers o
          where o.value = i.value and (o.kind = i.kind
            or o.kind in (${kind.email}, ${kind.work_email})
              and i.kind in (${kind.email}, ${kind.work_email}))
          order by o.person_id limit 100) o
      ) owners
      where i.person_id = p.id
    ) found
    order by r.place`;
}
