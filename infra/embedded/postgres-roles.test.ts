import { afterAll, describe, expect, it } from 'vitest';
import { newDataDir, query, removeServers, settings } from '../../tests/support/held-postgres.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

afterAll(removeServers);

describe('the role of the service', () => {
  it('owns its database, and has no other right', async () => {
    await using server = await startEmbeddedPostgres({ dataDir: newDataDir(), settings });
    const [role] = await query(
      server.url,
      `select rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
         (select count(*)::int from pg_auth_members where member = r.oid) as memberships,
         pg_get_userbyid(datdba) as owner
       from pg_roles r, pg_database where rolname = current_user and datname = current_database()`,
    );
    expect(role).toEqual({
      ...{ rolname: 'enrich_service', rolsuper: false, rolcreatedb: false, rolcreaterole: false },
      ...{ rolreplication: false, rolbypassrls: false, memberships: 0, owner: 'enrich_service' },
    });
    for (const statement of [
      "copy (select 1) to program 'true'",
      "copy (select 1) to '/tmp/enrich-forbidden'",
      "select pg_read_file('postgresql.conf')",
      "select lo_import('/etc/passwd')",
      "alter system set log_statement = 'all'",
      'create role other superuser',
      'set role enrich',
      'select rolpassword from pg_authid',
    ]) {
      await expect(query(server.url, statement), statement).rejects.toThrow(/permission denied/);
    }
    // The operations of migrations and the queue.
    await query(server.url, 'create extension btree_gin schema public');
    await query(server.url, 'create schema own');
    await query(server.url, 'create table own.made (id bigint generated always as identity)');
  });
});
