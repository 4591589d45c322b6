/** DuckDB in a separate process, so that its cores and memory can be distinguished from ours. Forked. */
import { DuckDBInstance } from '@duckdb/node-api';
import { must } from '../src/core/lib/assert.ts';
import { answerParent } from './answer-parent.ts';

const [database, threads] = process.argv.slice(2);
const instance = await DuckDBInstance.create(must(database, 'path of the database'), {
  threads: must(threads, 'number of threads'),
});
const connection = await instance.connect();

/** Runs a script; answers with the version of DuckDB. */
answerParent(async (script: string) => {
  await connection.run(script);
  const reader = await connection.runAndReadAll('select version()');
  return String(reader.getRows()[0]?.[0]);
});
