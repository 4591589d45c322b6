/**
 * Statements about the phones and handles of people that only less trusted sources have: see `sources/further-identifiers.ts`.
 */
import type { Sql } from '../db/client.ts';

/** An identifier of a person; `kind` is a code of `person_identifiers`. */
export interface FurtherIdentifier {
  id: number;
  kind: number;
  value: string;
}

/** Makes these the further identifiers of these people. */
export async function replaceFurtherIdentifiers(
  tx: Sql,
  ids: readonly number[],
  further: readonly FurtherIdentifier[],
): Promise<void> {
  await tx`delete from further_identifiers where person_id = any(${[...ids]}::bigint[])`;
  if (further.length === 0) return;
  await tx`
    insert into further_identifiers (value, kind, person_id)
    select * from unnest(${further.map(({ value }) => value)}::text[],
      ${further.map(({ kind }) => kind)}::smallint[], ${further.map(({ id }) => id)}::bigint[])
    on conflict do nothing`;
}
