/** Statements that keep the mappings of files that no adapter knows. */
import type { Sql } from '../../db/client.ts';

/** Returns the mapping that is kept under a name. */
export async function readSourceMapping(sql: Sql, name: string): Promise<unknown> {
  const [row] = await sql<{ mapping: string }[]>`
    select mapping::text as mapping from source_mappings where name = ${name}`;
  return row === undefined ? undefined : JSON.parse(row.mapping);
}

/** Keeps a mapping under a name, in the place of the one that has it. */
export async function saveSourceMapping(sql: Sql, name: string, mapping: object): Promise<void> {
  await sql`
    insert into source_mappings as s (name, mapping) values (${name}, ${JSON.stringify(mapping)}::text::json)
    on conflict (name) do update set mapping = excluded.mapping, saved_at = now()
    where s.mapping::text <> excluded.mapping::text`;
}

/** Returns all kept mappings, by name. */
export async function listSourceMappings(sql: Sql): Promise<{ name: string; mapping: unknown }[]> {
  const rows = await sql<{ name: string; mapping: string }[]>`
    select name, mapping::text as mapping from source_mappings order by name`;
  return rows.map(({ name, mapping }) => ({ name, mapping: JSON.parse(mapping) }));
}
