/** `npm run schema`: migrates a throw-away database and writes `infra/schema.sql` from it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { dumpSchema } from './dump-schema.ts';
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts';

const dataDir = await mkdtemp(path.join(tmpdir(), 'enrich-schema-'));
try {
  await using server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  const sql = connect({ url: server.url, connections: 1 });
  await migrate(sql);
  await writeFile(path.join(packageRoot, 'infra', 'schema.sql'), await dumpSchema(sql));
  await sql.end();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
