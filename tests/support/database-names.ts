/** The migrated database that every test database is cloned from. */
export const TEMPLATE_DATABASE = 'enrich_template';

/** The same server, another database. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
