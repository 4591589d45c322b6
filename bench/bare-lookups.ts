/**
 * The reference for lookups: a bare Express app with one prefix SELECT on the same table, without keys, limits,
 * word search or typo tolerance. Forked.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { readConfig } from '../src/core/config.ts';
import { connect } from '../src/core/db/client.ts';
import { must } from '../src/core/lib/assert.ts';
import { selectByPrefix } from './bench.sql.ts';

const sql = connect({ url: must(readConfig().databaseUrl, 'DATABASE_URL'), connections: 10 });
const app = express();
app.get('/:kind', async (request, response) => {
  const text = String(request.query.q ?? '').toLowerCase();
  const code = request.params.kind === 'job-titles' ? 1 : 2;
  response.json({ data: await selectByPrefix(sql, code, text) });
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ ready: { url: `http://127.0.0.1:${port}` } });
});
process.once('disconnect', () => process.exit(0));
