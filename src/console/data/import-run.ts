/** Imports as the API answers them, and the words for them. */
import type {
  Import as ApiImport,
  ImportRun as ApiRun,
  ShownImport as ApiShown,
  Calls,
} from '../../client/api-types.ts';
import type { Tone } from '../components/badge.tsx';

export type ImportRun = ApiRun;
export type Import = ApiImport;
export type ShownImport = ApiShown;
export type Counts = NonNullable<ImportRun['counts']>;
export type Found = NonNullable<ImportRun['found']>;
export type Mapping = NonNullable<Found['mapping']>;
export type RunChange = Calls['PATCH /admin/import-runs/{id}']['body'];

/** True while a worker has something to do for it. */
export function isMoving({ state }: Pick<ImportRun, 'state'>): boolean {
  return ['receiving', 'examining', 'counting', 'importing', 'undoing'].includes(state);
}

export function isOver({ finished_at }: Pick<ImportRun, 'finished_at'>): boolean {
  return finished_at !== null;
}

const runStates: Record<ImportRun['state'], { label: string; tone: Tone }> = {
  receiving: { label: 'Uploading', tone: 'active' },
  examining: { label: 'Reading the file', tone: 'active' },
  ready: { label: 'Ready to import', tone: 'warn' },
  counting: { label: 'Counting changes', tone: 'active' },
  importing: { label: 'Importing', tone: 'active' },
  undoing: { label: 'Undoing', tone: 'active' },
  done: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Discarded', tone: 'neutral' },
};

export function stateOfRun(run: ImportRun): { label: string; tone: Tone } {
  const isRefused = run.state === 'ready' && run.problem !== null;
  return isRefused ? { label: 'Needs attention', tone: 'bad' } : runStates[run.state];
}

const importStates: Record<Import['state'], { label: string; tone: Tone }> = {
  running: { label: 'Importing', tone: 'active' },
  done: { label: 'Imported', tone: 'good' },
  undoing: { label: 'Undoing', tone: 'active' },
  undone: { label: 'Undone', tone: 'neutral' },
};

export function stateOfImport({ state, problem }: Import): { label: string; tone: Tone } {
  return problem === null ? importStates[state] : { label: 'Build failed', tone: 'bad' };
}

/** The failure of an import whose records are not built, with what comes next; null without one. */
export function buildProblemOf({ problem }: Import): string | null {
  return problem === null
    ? null
    : `Its records are not built yet: ${problem}. The service tries again.`;
}

/** Sources whose files are recognised, as people know them. */
export const sourceLabels: Record<string, string> = {
  'gb-companies': 'UK companies',
  'gb-psc': 'UK people in control',
  'gb-officers': 'UK officers',
  'gb-accounts': 'UK accounts',
  gleif: 'GLEIF',
  pdl: 'People Data Labs',
  sirene: 'SIRENE (France)',
  brreg: 'Brønnøysund (Norway)',
  ariregister: 'Äriregister (Estonia)',
  hubspot: 'HubSpot',
  salesforce: 'Salesforce',
  apollo: 'Apollo',
  pipedrive: 'Pipedrive',
  linkedin: 'LinkedIn connections',
  'google-contacts': 'Google Contacts',
  outlook: 'Outlook',
  vcard: 'vCard',
};

export function sourceLabel(source: string): string {
  return sourceLabels[source] ?? source;
}

/** The title of a run: its file, or what it undoes. */
export function titleOfRun({ kind, files, import_id }: ImportRun): string {
  if (kind === 'undo') return `Undo import ${import_id}`;
  return nameOfFiles(files.map(({ name }) => name)) ?? 'Import';
}

/** The first file and the number of others; undefined without one. */
export function nameOfFiles([first, ...more]: readonly string[]): string | undefined {
  return first === undefined || more.length === 0 ? first : `${first} and ${more.length} more`;
}

export function bytesOf({ files }: Pick<ImportRun, 'files'>): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

const reasons: Record<string, string> = {
  ended: 'ends an earlier record',
  opted_out: 'opted out: not imported',
  no_such_company: 'its company is not in the graph',
  more_cells_than_header: 'more cells than columns',
  fewer_cells_than_header: 'fewer cells than columns',
  names_no_person: 'names no person',
  digits_lost: 'a spreadsheet has cut digits off the ID',
  key_twice: 'another row has its ID',
  unclear_opt_out: 'its opt-out is neither yes nor no',
};

/** A reason in a person's words; one that is not known here is shown as it is. */
export function reasonLabel(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}
