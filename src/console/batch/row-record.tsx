/** A row of a result in full: why it matched, the record that was found, and its own cells. */
import { inOrder } from '../format.ts';
import { fieldGroups } from '../search/person-fields.ts';
import { sayKind, sayOutcome, sayReason } from '../words.ts';
import type { Batch } from './batch.ts';
import type { FoundRecord } from './found-columns.ts';
import { companyColumns } from './list-columns.ts';
import { subjectOf } from './operations.ts';

export interface ResultRow extends FoundRecord {
  row: number;
  input: Record<string, string>;
  match: {
    status: string;
    by: string | null;
    reason: string | null;
    conflict: boolean;
    credits: number;
    agrees?: string | null;
  };
}

const personLabels = labelsOf([
  ...fieldGroups,
  {
    fields: {
      'company.name': 'Company',
      city: 'City',
      region: 'Region',
      country: 'Country',
      industry: 'Industry',
    },
  },
]);
const companyLabels = labelsOf(companyColumns.groups);

function labelsOf(groups: readonly { fields: Readonly<Record<string, string>> }[]) {
  return new Map(groups.flatMap(({ fields }) => Object.entries(fields)));
}

interface Group {
  title: string;
  fields: { name: string; value: string }[];
}

export function RowRecord({ batch, row }: { batch: Batch; row: ResultRow }) {
  const { row: _row, input, match: _match, ...found } = row;
  const groups: Group[] = [
    { title: 'Evidence', fields: evidenceOf(batch, row) },
    ...Object.entries(found).map(([name, record]) => recordGroup(name, record)),
    { title: 'Your row', fields: fieldsOf(input, plain) },
  ];
  return (
    <div class="record">
      {groups
        .filter(({ fields }) => fields.length > 0)
        .map(({ title, fields }) => (
          <div key={title}>
            <h3>{title}</h3>
            <dl>
              {fields.map(({ name, value }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </div>
        ))}
    </div>
  );
}

const agreements: Readonly<Record<string, string>> = {
  yes: 'Agrees with the record',
  no: 'Differs from the record',
  unknown: 'Cannot be compared',
};

/** The identifier that the row was matched on, with its cell, and evidence for or against the match. */
function evidenceOf(
  { mapping, dialect, operation }: Batch,
  { input, match }: ResultRow,
): Group['fields'] {
  const { status, by, reason, conflict, credits, agrees } = match;
  const names = inputNames(dialect.header ?? []);
  const columns = by === null ? [] : (mapping[by] ?? []);
  const cells = columns.map(({ column }) => input[names[column - 1] ?? `column_${column}`] ?? '');
  const value = cells.filter(Boolean).join(', ');
  return [
    { name: 'Outcome', value: sayOutcome(status) },
    { name: 'Reason', value: reason === null ? '' : sayReason(reason, subjectOf(operation)) },
    {
      name: status === 'no_match' ? 'Looked up by' : 'Matched on',
      value: by === null ? '' : `${sayKind(by)}${value === '' ? '' : `: ${value}`}`,
    },
    { name: 'Your name or company', value: agreements[agrees ?? ''] ?? '' },
    {
      name: 'Conflict',
      value: conflict ? 'Another identifier of the row finds another record' : '',
    },
    { name: 'Credits', value: String(credits) },
  ].filter((field) => field.value !== '');
}

function recordGroup(name: string, record: unknown): Group {
  const labels = name === 'company' ? companyLabels : name === 'person' ? personLabels : null;
  const isRecord = typeof record === 'object' && record !== null;
  const known = Object.entries(isRecord ? record : {}).filter(
    // Ids say nothing to people.
    ([field]) => labels === null || !/(^i|I)d$/.test(field),
  );
  const label = (field: string) => labels?.get(field) ?? capital(plain(field));
  return { title: capital(name), fields: fieldsOf(Object.fromEntries(known), label) };
}

/** The values that are known. */
function fieldsOf(record: Record<string, unknown>, label: (name: string) => string) {
  return Object.entries(record).flatMap(([name, unread]) => {
    const value = sayValue(unread);
    return value === '' ? [] : [{ name: inOrder(label(name)), value: inOrder(value) }];
  });
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined || value === '' || value === 0) return '';
  if (Array.isArray(value)) return value.map(sayValue).filter(Boolean).join(', ');
  if (typeof value === 'object') return sayValue((value as { name?: unknown }).name);
  return String(value);
}

function plain(name: string): string {
  return name.replaceAll('_', ' ');
}

function capital(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** The names of the list's columns in JSON lines, where no two may be alike and none is empty. */
export function inputNames(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((given, index) => {
    const base = given === '' ? `column_${index + 1}` : given;
    let name = base;
    for (let copy = 2; taken.has(name); copy++) name = `${base}_${copy}`;
    taken.add(name);
    return name;
  });
}
