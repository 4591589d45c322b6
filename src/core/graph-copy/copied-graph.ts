/** Reads people and companies from a local copy, and from Postgres those about whom the copy cannot know. */
import type { CompanyReader } from '../enrich/company-reader.ts';
import type { GraphReader } from '../enrich/graph-reader.ts';
import type { RecordBytes } from '../enrich/match-data.ts';
import type { PeopleReader, PersonWithCompany } from '../enrich/people-reader.ts';
import type { ChangedGraph } from './changed-records.ts';
import { decodeFacts } from './company-facts.ts';
import { CopiedRecords, type FoundRecord, type KeepBuffers, textOf } from './copied-records.ts';
import type { CopyReader } from './read-in-thread.ts';
import { employerOf } from './record-block.ts';

export interface CopiedGraph extends GraphReader {
  /** Call when no record that was read is read any more. */
  release(): void;
}

/**
 * Reads the graph of a copy in the state that `changed` has reached. `postgres` answers for changed records, and for values
 * that more records have than a look-up returns.
 */
export function copiedGraph(
  copy: CopyReader,
  changed: ChangedGraph,
  postgres: GraphReader,
): CopiedGraph {
  const kept: ArrayBuffer[] = [];
  const keep: KeepBuffers = (buffers) => {
    kept.push(...buffers);
    return buffers.map((buffer) => Buffer.from(buffer));
  };
  const recordsOf = (entity: 'people' | 'companies') =>
    new CopiedRecords(copy[entity], changed[entity], postgres[entity].lookUp, keep);
  const [people, companies] = [recordsOf('people'), recordsOf('companies')];
  return {
    people: copiedPeople(people, companies, postgres),
    companies: copiedCompanies(companies, postgres.companies),
    release: () => copy.release(kept.splice(0)),
  };
}

function copiedPeople(
  people: CopiedRecords,
  companies: CopiedRecords,
  postgres: GraphReader,
): PeopleReader {
  return {
    lookUp: (values) => people.lookUp(values),

    read(ids, { brief, keep }) {
      return people.read(
        ids,
        async (found) => (brief ? found.map(textOf) : people.readFurther(found)),
        (others) => postgres.people.read(others, { brief, keep }),
      );
    },

    readWithCompany(ids, { keep }) {
      return people.read(
        ids,
        async (found) => {
          const [records, employers] = await Promise.all([
            people.readFurther(found),
            readEmployers(found, companies, postgres.companies, keep),
          ]);
          return records.map((person, index) => withEmployer(person, employers[index]));
        },
        (others) => postgres.people.readWithCompany(others, { keep }),
      );
    },

    async readInOrder(ids, { brief }) {
      const own = await people.readById(ids, { further: !brief });
      // Changed people, and those without a record: of them Postgres knows who opted out.
      const elsewhere = ids.filter((_, index) => own[index] === undefined);
      const others = await postgres.people.readInOrder(elsewhere, { brief });
      let other = 0;
      return own.map((record) => record ?? others[other++]);
    },
  };
}

function withEmployer(
  person: RecordBytes | undefined,
  company: RecordBytes | undefined,
): PersonWithCompany | undefined {
  return person === undefined ? undefined : { person, company: company ?? null };
}

/** Reads the employer of each person; undefined for none, and for one that is not stored. */
async function readEmployers(
  found: readonly FoundRecord[],
  companies: CopiedRecords,
  postgres: CompanyReader,
  keep: (texts: Buffer[]) => Buffer[],
): Promise<(RecordBytes | undefined)[]> {
  const employers = found.map(({ bytes, at }) => employerOf(bytes, at));
  const ids = [...new Set(employers)].filter((id) => id !== 0).sort((a, b) => a - b);
  const changed = ids.filter((id) => companies.hasChanged(id));
  const [own, others] = await Promise.all([
    companies.readById(ids, { further: false }),
    postgres.read(changed, { keep }),
  ]);
  const records = new Map(ids.map((id, index) => [id, own[index]]));
  for (const [index, id] of changed.entries()) records.set(id, others[index]);
  return employers.map((id) => records.get(id));
}

function copiedCompanies(companies: CopiedRecords, postgres: CompanyReader): CompanyReader {
  const factsOf = async (found: readonly FoundRecord[]) =>
    (await companies.readFurther(found)).map(decodeFacts);
  return {
    lookUp: (values) => companies.lookUp(values),
    read: (ids, { keep }) =>
      companies.read(
        ids,
        async (found) => found.map(textOf),
        (others) => postgres.read(others, { keep }),
      ),
    readDirectors: (ids) =>
      companies.read(
        ids,
        async (found) => (await factsOf(found)).map(({ directors }) => directors),
        (others) => postgres.readDirectors(others),
      ),
    readFinancials: (ids) =>
      companies.read(
        ids,
        async (found) => (await factsOf(found)).map(({ periods }) => periods),
        (others) => postgres.readFinancials(others),
      ),
  };
}
