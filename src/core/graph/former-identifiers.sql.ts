/**
 * Statements about the identifiers of people who left the graph, by hash: an opt-out by one of them must still find the
 * person in stored results.
 */
import type { Sql } from '../db/client.ts';
import { personCodes, personIdentifierCodes } from './identifier-kinds.ts';
import { entityCodes } from './source-entities.ts';

/** Records the identifiers of people who leave. */
export async function recordFormerIdentifiers(tx: Sql, ids: readonly number[]): Promise<void> {
  await insertFormer(
    tx,
    tx`
      select person_id, kind, value from person_identifiers where person_id = any(${[...ids]}::bigint[])
      union select person_id, kind, value from further_identifiers where person_id = any(${[...ids]}::bigint[])`,
  );
}

/** Records the values of records that end, a query of their `number`: also addresses that only a source has of a person. */
export async function recordFormerKeys(tx: Sql, numbers: ReturnType<Sql>): Promise<void> {
  await insertFormer(
    tx,
    tx`
      select r.id, case when starts_with(k.value, 'email:') then ${personIdentifierCodes.email}
          else ${personIdentifierCodes.professional_network} end::smallint,
        substr(k.value, strpos(k.value, ':') + 1)
      from source_keys k join source_records r using (number)
      where k.number in (${numbers}) and not k.is_reference and r.entity = ${entityCodes.person} and r.id is not null
        and (k.value like 'email:%' or k.value like 'profile:%')`,
  );
}

/** `identifiers` is a query of person, kind and value. */
async function insertFormer(tx: Sql, identifiers: ReturnType<Sql>): Promise<void> {
  const kinds = tx`unnest(${personCodes.map(({ code }) => code)}::smallint[],
    ${personCodes.map(({ kind }) => kind)}::text[]) k (code, name)`;
  await tx`
    insert into former_identifiers (value_sha256, kind, person_id, identifier_sha256)
    select distinct sha256(convert_to(value, 'UTF8')), kind, person_id, sha256(convert_to(k.name || ':' || value, 'UTF8'))
    from (${identifiers}) i (person_id, kind, value) join ${kinds} on k.code = i.kind
    on conflict (value_sha256, kind, person_id)
      do update set left_at = excluded.left_at, identifier_sha256 = excluded.identifier_sha256`;
}

/**
 * Deletes the former identifiers that no stored result needs: the oldest one was created at `oldest`, null for none. A kept
 * response may be a day old, and a transaction in which a person left may have taken hours. Those of people who opted out
 * have served their purpose.
 */
export async function deleteFormerIdentifiers(sql: Sql, oldest: Date | null): Promise<void> {
  await sql`
    delete from former_identifiers f
    where left_at < least(${oldest}::timestamptz, now() - interval '1 day') - interval '1 day'
      or exists (select from suppressed_persons s where s.person_id = f.person_id)`;
}
