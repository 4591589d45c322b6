import { CellText } from '../components/cell-text.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatNumber } from '../format.ts';
import { fieldLabel } from '../search/person-fields.ts';
import { type Found, reasonLabel } from './import-run.ts';

const COLUMNS_MAX = 8;

const entities = {
  company: 'Company',
  person: 'Person',
  officer: 'Officer',
  financial: 'Accounts',
} as const;

type Row = Found['preview'][number];

/** The first records as they would be imported: what each becomes, or why it is rejected, then the fields that most of them have. */
export function PreviewTable({ preview }: { preview: readonly Row[] }) {
  const fields = fieldsOf(preview);
  const isPeople = preview.every(({ entity }) => entity === 'person' || entity === null);
  const columns: Column<Row>[] = [
    { header: 'Line', isNumber: true, cell: ({ line }) => formatNumber(line) },
    {
      header: 'Becomes',
      cell: ({ entity, reason }: Row) =>
        reason === null ? (
          entities[entity ?? 'company']
        ) : (
          <span class="soft">{reasonLabel(reason)}</span>
        ),
    },
    ...fields.map((field) => ({
      header: isPeople ? fieldLabel(field) : wordsOf(field),
      cell: ({ record }: Row) => {
        const text = textOf(record?.[field]);
        // A card leaves out an empty cell.
        return text === '' ? null : <CellText text={text} />;
      },
    })),
  ];
  return (
    <Table
      caption="First records"
      rows={preview}
      keyOf={({ line }) => String(line)}
      columns={columns}
    />
  );
}

/** Fields that people look for first; others follow in the order in which they occur. */
const firstFields = [
  'name',
  'surname',
  'workEmail',
  'email',
  'position',
  'company',
  'domain',
  'phone',
  'mobile',
  'locality',
  'employees',
];

/** The fields of most records, those that identify it first. One that begins with `_` only helps to derive another. */
function fieldsOf(preview: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  for (const { record } of preview) {
    for (const name of Object.keys(record ?? {})) {
      if (!name.startsWith('_')) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, COLUMNS_MAX);
  const shown = new Set(most.map(([name]) => name));
  const first = firstFields.filter((name) => shown.has(name));
  return [...new Set([...first, ...shown])];
}

/** `workEmail` as `Work email`. */
function wordsOf(field: string): string {
  const words = field
    .replaceAll('_', ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return value === undefined || value === null ? '' : String(value);
}
