import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
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

  it('receives everything that a version without it created as superuser, and may change and drop it', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    for (const statement of [
      'reassign owned by enrich_service to enrich',
      'drop owned by enrich_service',
      'drop role enrich_service',
      'create extension btree_gin schema public',
      'create schema graph',
      'create table graph.people (id bigint generated always as identity primary key, n serial)',
      'insert into graph.people default values',
      "create type graph.mood as enum ('well')",
      'create view graph.seen as select * from graph.people',
      'create materialized view graph.kept as select * from graph.people',
      'create sequence public.numbers',
      'create table public.parted (id int) partition by range (id)',
      'create table public.part partition of public.parted for values from (0) to (9)',
      'create function public.one(int) returns int language sql as $$ select 1 $$',
      'create procedure public.nothing() language sql as $$ select 1 $$',
    ]) {
      await query(first.adminUrl, statement);
    }
    await first.stop();
    const file = path.join(dataDir, 'postgres-credentials.json');
    const { servicePassword: _, ...older } = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify(older));

    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(second.adminUrl).toBe(first.adminUrl);
    const left = await query(
      second.adminUrl,
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = relnamespace
       where nspname in ('public', 'graph') and relowner <> 'enrich_service'::regrole
       union all
       select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = pronamespace
       where nspname in ('public', 'graph') and proowner <> 'enrich_service'::regrole
         and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       union all
       select t.oid::regtype::text from pg_type t join pg_namespace n on n.oid = typnamespace
       where nspname in ('public', 'graph') and typowner <> 'enrich_service'::regrole
         and not exists (select from pg_depend d where d.objid = t.oid and d.deptype = 'e')`,
    );
    expect(left).toEqual([]);
    for (const statement of [
      'insert into graph.people default values',
      'refresh materialized view graph.kept',
      'alter table graph.people add column note text',
      "alter type graph.mood add value 'better'",
      'create or replace function public.one(int) returns int language sql as $$ select 2 $$',
      'create extension if not exists btree_gin schema public',
      'drop schema graph cascade',
      'drop procedure public.nothing()',
    ]) {
      await query(second.url, statement);
    }
  });
});
