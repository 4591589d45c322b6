/**
 * Runs a reference script, as a database administrator would by hand: with `psql` if installed. Otherwise the
 * server itself reads and writes the files, without the overhead of a client.
 */
import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Database, inTransaction } from '../src/core/db/client.ts';
import { runConstant } from '../src/core/graph/graph.sql.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { asLiteral } from './bench.sql.ts';

export type ReferenceScript = 'ten-fields' | 'all-columns' | 'export-ten-fields';

export interface Reference {
  /** The client that runs it, for the record. */
  client: string;
  /** Runs the script on `leads.csv` in the folder; it writes `reference.csv` there. */
  run(script: ReferenceScript): Promise<void>;
}

const execute = promisify(execFile);

/** The fastest way to run the scripts on this machine. */
export async function openReference(
  stack: { sql: Database; databaseUrl: string },
  folder: string,
): Promise<Reference> {
  const psql = await findPsql();
  if (psql === null) return serverReference(stack.sql, folder);
  const { stdout } = await execute(psql, ['--version']);
  return {
    client: stdout.trim(),
    async run(script) {
      const arguments_ = ['-X', '-q', '-d', stack.databaseUrl, '-f', scriptFile(script)];
      await execute(psql, arguments_, { cwd: folder });
    },
  };
}

/** The program itself: the one in PATH may be a wrapper that takes longer to start than to run. */
async function findPsql(): Promise<string | null> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const programs = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => `/usr/lib/postgresql/${version}/bin/psql`);
  for (const program of [...programs, '/usr/local/bin/psql', '/opt/homebrew/bin/psql']) {
    const isThere = await access(program).then(
      () => true,
      () => false,
    );
    if (isThere) return program;
  }
  return null;
}

/** The same script with the server as the reader and writer of the files. */
function serverReference(sql: Database, folder: string): Reference {
  return {
    client: 'the server itself (no psql here)',
    async run(script) {
      const text = await readFile(scriptFile(script), 'utf8');
      const file = (name: string) => asLiteral(path.join(folder, name));
      const statements = text
        .replace(/^(\\set .*|begin;|commit;)$/gm, '')
        .replace(/^\\copy (.*) from 'leads\.csv' (.*)$/m, `copy $1 from ${file('leads.csv')} $2;`)
        .replace('to stdout', `to ${file('reference.csv')}`)
        .replace('\\g reference.csv', ';');
      await inTransaction(sql, (tx) => runConstant(tx, statements));
    },
  };
}

function scriptFile(script: ReferenceScript): string {
  return path.join(packageRoot, 'bench', 'reference', `${script}.sql`);
}
