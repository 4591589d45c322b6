/** Erasures in tests of sources, and what they leave. */
import { expect } from 'vitest';
import { must } from '../../src/core/lib/assert.ts';
import { erasePerson } from '../../src/jobs/erasure/erase-person.ts';
import type { PersonAsked } from '../../src/jobs/erasure/find-person.ts';
import type { Pipeline } from './pipeline.ts';

/** Returns functions that erase people, and read what is stored, in the pipeline of the test that runs. */
export function erasuresOf(pipeline: () => Pipeline) {
  async function erase(asked: PersonAsked) {
    expect(await erasePerson(pipeline().context, asked)).toMatchObject({ left: [] });
  }

  async function idOf(name: string): Promise<number> {
    const [row] = await pipeline().sql<
      { id: number }[]
    >`select id from persons where name = ${name}`;
    return must(row, name).id;
  }

  /** The given names of the people whom the graph serves. */
  async function served(): Promise<string[]> {
    const rows = await pipeline().sql<{ name: string }[]>`
      select name from persons p
      where not exists (select from suppressed_persons s where s.person_id = p.id) order by name`;
    return rows.map(({ name }) => name);
  }

  /** All that is stored of records of sources. */
  async function said(): Promise<string> {
    const rows = await pipeline().sql<{ text: string }[]>`
      select r::text as text from source_records r union all select v::text from source_record_versions v
      union all select k::text from source_keys k union all select o::text from officers o`;
    return rows.map(({ text }) => text).join('\n');
  }

  return { erase, idOf, served, said };
}
