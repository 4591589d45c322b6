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
 * Creates role and database if they are missing, and sets the role's password. A replica has the roles of its primary.
 * Can be repeated; throws the server's errors.
 */
export async function prepareRoles({ port, adminPassword, servicePassword }: Access) {
  const server = postgres({
    ...{ host: '127.0.0.1', port, user: ADMIN_ROLE, password: adminPassword, database: 'postgres' },
    ...{ max: 1, fetch_types: false, prepare: false, onnotice: () => {} },
  });
  try {
    const [state] = await server`
      select pg_is_in_recovery() as follows,
        exists (select from pg_roles where rolname = ${SERVICE_ROLE}) as role,
        exists (select from pg_database where datname = ${ADMIN_ROLE}) as database`;
    if (state?.follows) return;
    if (!state?.role) await server`create role ${server(SERVICE_ROLE)}`;
    await server`select set_config('enrich.role', ${SERVICE_ROLE}, false),
      set_config('enrich.password', ${servicePassword}, false)`;
    await server`
      do $$ begin
        execute format('alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls '
          'password %L', current_setting('enrich.role'), current_setting('enrich.password'));
      end $$`;
    if (!state?.database) {
      await server`create database ${server(ADMIN_ROLE)} owner ${server(SERVICE_ROLE)}`;
    }
  } finally {
    await server.end({ timeout: 0 });
  }
}
