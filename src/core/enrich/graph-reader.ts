/** Reads what matching needs of one graph: by Postgres, or by a local copy. */
import type { Sql } from '../db/client.ts';
import { type CompanyReader, postgresCompanies } from './company-reader.ts';
import { type PeopleReader, peopleOfCalls, postgresPeople } from './people-reader.ts';

export interface GraphReader {
  people: PeopleReader;
  companies: CompanyReader;
}

/** Reads the graph that `sql` sees, each time in the state of the statement. */
export function postgresGraph(sql: Sql): GraphReader {
  return { people: postgresPeople(sql), companies: postgresCompanies(sql) };
}

/** As `postgresGraph`, for single calls: see `peopleOfCalls`. */
export function graphOfCalls(sql: Sql): GraphReader {
  return { people: peopleOfCalls(sql), companies: postgresCompanies(sql) };
}
