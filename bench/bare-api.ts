/**
 * The reference for single calls: Express and one SELECT, from the identifier to the stored record. No key,
 * limit or price, and no outcome but the first row. Forked.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { readConfig } from '../src/core/config.ts';
import { connect } from '../src/core/db/client.ts';
import { must } from '../src/core/lib/assert.ts';
import { findRecord } from './bench.sql.ts';

const { databaseUrl, databaseConnections } = readConfig();
const sql = connect({
  url: must(databaseUrl, 'DATABASE_URL'),
  connections: databaseConnections,
});
const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.get('/person', async (request, response) => {
  const record = await findRecord(sql, String(request.query.email));
  response.status(record === undefined ? 404 : 200).json({ record });
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ ready: { url: `http://127.0.0.1:${port}` } });
});
process.once('disconnect', () => process.exit(0));
