/** The folders of `src` that may name a table in their statements. */
import { lineAt, type SourceFile } from './source-files.ts';

interface Owned {
  tables: string;
  /** Folders of `src` that write these tables, subfolders included. */
  writers: string[];
  /** Folders that name them but never write them. A lock is not a write. */
  readers?: string[];
}

const owners: Owned[] = [
  // Money: other features compose the fragments of this folder and do not name its tables, not even to read them.
  {
    tables: 'wallets ledger_entries reservations key_budgets owned_people',
    writers: ['core/credits'],
  },
  {
    tables: 'accounts',
    writers: ['core/accounts'],
    readers: ['core/keys', 'core/search', 'core/sessions', 'jobs/batch'],
  },
  {
    tables: 'api_keys',
    writers: ['core/keys'],
    readers: [
      'core/credits',
      'core/sessions',
      'jobs/batch',
      'jobs/chunk',
      'jobs/housekeeping',
      'jobs/schedule',
    ],
  },
  { tables: 'sessions', writers: ['core/sessions'], readers: ['core/credits'] },
  { tables: 'key_uses', writers: ['core/keys'] },
  { tables: 'sign_in_links', writers: ['core/sessions'] },
  // One statement finds a key and counts its requests.
  { tables: 'day_counts rate_buckets', writers: ['core/limits', 'core/keys'] },
  { tables: 'idempotency_keys', writers: ['core/idempotency'], readers: ['jobs/erasure'] },
  { tables: 'do_not_contact do_not_contact_versions page_hints', writers: ['core/search'] },
  { tables: 'migrations', writers: ['core/db'] },
  { tables: 'list_mappings named_mappings', writers: ['jobs/batch'] },
  // Batch compares its identity with that of the store, monitor records the last backup.
  { tables: 'installation', writers: ['jobs/monitor'], readers: ['jobs/batch'] },
  { tables: 'saved_searches', writers: ['core/search'] },
  {
    tables: `cities companies company_identifiers company_keys_to_write company_name_keys company_records countries financial_periods former_identifiers further_identifiers industries imports import_rows keyed_companies keyed_persons lookup_values
      lookup_titles lookup_vocabulary lookup_words merged_ids name_counts name_statistics officers person_briefs person_identifiers person_name_keys person_records person_search persons
      positions records_to_build regions source_keys source_mappings source_record_versions source_records source_splits`,
    writers: ['core/graph'],
    readers: [
      'core/credits',
      'core/enrich',
      'core/graph-copy',
      'core/likely',
      'core/lookups',
      'core/search',
      'core/suppression',
      'jobs/batch',
      'jobs/erasure',
      'jobs/export',
    ],
  },
  {
    tables: 'graph_changes changed_records',
    writers: ['core/graph'],
    readers: ['core/graph-copy', 'jobs/chunk', 'jobs/erasure'],
  },
  { tables: 'published_copies', writers: ['core/graph-copy'] },
  {
    tables: 'suppressed_identifiers suppressed_officers suppressed_persons suppressions',
    writers: ['core/suppression'],
    readers: [
      'core/credits',
      'core/enrich',
      'core/graph',
      'core/graph-copy',
      'core/likely',
      'core/search',
      'jobs/chunk',
      'jobs/erasure',
    ],
  },
  {
    tables: 'batches chunks parts',
    writers: ['jobs/audit', 'jobs/batch', 'jobs/chunk', 'jobs/housekeeping', 'jobs/result'],
    readers: ['jobs/monitor', 'jobs/schedule'],
  },
  // Written by triggers of batches.
  { tables: 'stored_sums', writers: [], readers: ['jobs/audit', 'jobs/batch'] },
  { tables: 'batch_records key_waits', writers: ['jobs/batch', 'jobs/chunk'] },
  { tables: 'discarded_objects', writers: ['jobs/result'] },
  { tables: 'import_runs', writers: ['jobs/imports'] },
  { tables: 'uploads', writers: ['jobs/list'], readers: ['jobs/batch'] },
  {
    tables: 'schedules schedule_runs',
    writers: ['jobs/schedule'],
    readers: ['jobs/chunk', 'jobs/export', 'jobs/monitor'],
  },
  // The statement that commits a part records the people in it.
  {
    tables: 'schedule_deliveries',
    writers: ['jobs/schedule', 'jobs/chunk'],
    readers: ['jobs/export'],
  },
  {
    tables: 'webhooks webhook_deliveries',
    writers: ['jobs/webhook'],
    readers: ['jobs/monitor'],
  },
  { tables: 'processes audits', writers: ['jobs/monitor'], readers: ['jobs/erasure'] },
];

const ownerOf = new Map(
  owners.flatMap((owned) => owned.tables.split(/\s+/).map((table) => [table, owned] as const)),
);

/** The tables that have an owner. */
export const ownedTables = [...ownerOf.keys()];

const table = String.raw`(?:(?:public|graph|graph_test|\$\{[^}]*\})\.)?"?(?<table>${ownedTables.join('|')})\b(?!\s*\.)`;

/**
 * A table after a word of SQL. Fragments are read like statements. A name that comes from TypeScript is not
 * found, except a literal in `sql('...')`, which counts as written because it can follow any word.
 */
const namings = [
  new RegExp(
    String.raw`\b(?:(?<write>insert\s+into|update|delete\s+from|merge\s+into|truncate)|from|join|using|table)\s+(?:only\s+|lateral\s+)?${table}`,
    'gi',
  ),
  new RegExp(String.raw`\b(?:from|join)\s+[\w.]+(?:\s+(?:as\s+)?\w+)?\s*,\s*${table}`, 'gi'),
  new RegExp(String.raw`(?<write>\b(?:sql|tx)\(\s*['"])${table}`, 'g'),
];

const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)(?:\/\/|--).*$/gm;
const statementFile = /^src\/(core\/db\/[\w-]+|.+\.sql)\.ts$/;

/** Tables that a file must not name, and tables of the schema without an owner, as `path:line what`. */
export function findForeignTables(file: SourceFile): string[] {
  if (file.path === 'infra/schema.sql') return findUnowned(file);
  if (!statementFile.test(file.path)) return [];
  const text = file.text.replace(comment, (found) => found.replace(/[^\n]/g, ' '));
  return namings.flatMap((naming) =>
    [...text.matchAll(naming)].flatMap((match) => {
      const { write, table: name = '' } = match.groups ?? {};
      const isWrite = write !== undefined;
      if (mayName(file.path, name, isWrite)) return [];
      const line = lineAt(text, match.index);
      return [`${file.path}:${line} ${isWrite ? 'writes' : 'names'} the table ${name}`];
    }),
  );
}

function mayName(path: string, name: string, isWrite: boolean): boolean {
  // A backup copies whole tables, whatever is in them.
  if (path === 'src/jobs/backup/backup.sql.ts') return !isWrite;
  const { writers = [], readers = [] } = ownerOf.get(name.toLowerCase()) ?? {};
  const folders = isWrite ? writers : [...writers, ...readers];
  return folders.some((folder) => path.startsWith(`src/${folder}/`));
}

/** The tables that the schema creates, with their offsets. */
export function tablesOf(schema: string): { name: string; at: number }[] {
  const created = schema.matchAll(/^create (?:unlogged )?table \w+\.(\w+)/gm);
  return [...created].map((match) => ({ name: match[1] ?? '', at: match.index }));
}

function findUnowned({ path, text }: SourceFile): string[] {
  return tablesOf(text)
    .filter(({ name }) => !ownerOf.has(name))
    .map(({ name, at }) => `${path}:${lineAt(text, at)} creates ${name}, which has no owner`);
}
