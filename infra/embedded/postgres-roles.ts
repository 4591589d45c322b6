/**
 * The role with which API, workers and commands connect: owner of the service's database and everything in it, and
 * nothing else. The superuser, whose rights include running programs, is only used to create it.
 */
import postgres from 'postgres';

/** The bootstrap superuser, and the name of the service's database. */
export const ADMIN_ROLE = 'enrich';
/** The role that the service connects with. */
export const SERVICE_ROLE = 'enrich_service';

interface Access {
  port: number;
  adminPassword: string;
  servicePassword: string;
}

/**
 * Creates role and database if they are missing, sets the role's password, and gives the role everything that an
 * older version created as superuser. A replica has the roles of its primary. Can be repeated; throws the server's
 * errors.
 */
export async function prepareRoles({ port, adminPassword, servicePassword }: Access) {
  const open = (database: string) =>
    postgres({
      ...{ host: '127.0.0.1', port, user: ADMIN_ROLE, password: adminPassword, database },
      ...{ max: 1, fetch_types: false, prepare: false, onnotice: () => {} },
    });
  const server = open('postgres');
  try {
    const [state] = await server`
      select pg_is_in_recovery() as follows,
        exists (select from pg_roles where rolname = ${SERVICE_ROLE}) as role,
        (select pg_get_userbyid(datdba) from pg_database where datname = ${ADMIN_ROLE}) as owner`;
    if (state?.follows) return;
    if (!state?.role) await server`create role ${server(SERVICE_ROLE)}`;
    await server`select set_config('enrich.role', ${SERVICE_ROLE}, false),
      set_config('enrich.password', ${servicePassword}, false)`;
    await server`
      do $$ begin
        execute format('alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls '
          'password %L', current_setting('enrich.role'), current_setting('enrich.password'));
      end $$`;
    if (!state?.owner) {
      await server`create database ${server(ADMIN_ROLE)} owner ${server(SERVICE_ROLE)}`;
    } else if (state.owner !== SERVICE_ROLE) {
      await server`alter database ${server(ADMIN_ROLE)} owner to ${server(SERVICE_ROLE)}`;
    }
  } finally {
    await server.end({ timeout: 0 });
  }
  const database = open(ADMIN_ROLE);
  try {
    await database`select set_config('enrich.role', ${SERVICE_ROLE}, false)`;
    await giveObjects(database);
  } finally {
    await database.end({ timeout: 0 });
  }
}

/**
 * Transfers, in one transaction, everything that the superuser owns outside the system's schemas and extensions.
 * `reassign owned` refuses for this superuser, because it owns the system's objects too. A sequence of a column
 * moves with its table, and so does the row type.
 */
async function giveObjects(database: postgres.Sql): Promise<void> {
  await database`
    do $$ declare statement text; begin
      for statement in
        with own_schemas as (
          select oid, nspname, nspowner from pg_namespace
          where nspname !~ '^pg_' and nspname <> 'information_schema'),
        bound as (
          select classid, objid from pg_depend
          where deptype = 'e' or (deptype in ('a', 'i') and refclassid = 'pg_class'::regclass
            and classid = 'pg_class'::regclass
            and exists (select from pg_class where oid = objid and relkind = 'S'))),
        given as (
          select 'schema' as kind, quote_ident(nspname) as name, 'pg_namespace'::regclass as classid, oid
          from own_schemas where nspowner = current_user::regrole
          union all
          select case relkind when 'S' then 'sequence' when 'v' then 'view'
              when 'm' then 'materialized view' else 'table' end,
            oid::regclass::text, 'pg_class'::regclass, oid
          from pg_class where relowner = current_user::regrole and relkind in ('r', 'p', 'S', 'v', 'm')
            and relnamespace in (select oid from own_schemas)
          union all
          select 'routine', oid::regprocedure::text, 'pg_proc'::regclass, oid
          from pg_proc where proowner = current_user::regrole
            and pronamespace in (select oid from own_schemas)
          union all
          select 'type', oid::regtype::text, 'pg_type'::regclass, oid
          from pg_type where typowner = current_user::regrole and typtype in ('e', 'd', 'r')
            and typnamespace in (select oid from own_schemas))
        select format('alter %s %s owner to %I', kind, name, current_setting('enrich.role'))
        from given g where not exists (
          select from bound b where b.classid = g.classid and b.objid = g.oid)
      loop
        execute statement;
      end loop;
    end $$`;
}
