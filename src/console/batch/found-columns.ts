/** The columns of a result for the record that was found: the fields that people look at first. */
interface FoundColumn {
  header: string;
  cell(row: FoundRecord): string;
}

type Found = Record<string, unknown> | null | undefined;

/** Members of a row of a result in JSON lines, besides its own cells. */
export interface FoundRecord {
  person?: Found;
  company?: Found;
  [name: string]: unknown;
}

function text(value: unknown): string {
  if (value === null || value === undefined || value === '' || value === 0) return '';
  if (Array.isArray(value)) return text(value[0]);
  if (typeof value === 'object') return text((value as { name?: unknown }).name);
  return String(value);
}

/** The first of these fields that holds something. */
const first =
  (from: (row: FoundRecord) => Found, ...names: string[]) =>
  (row: FoundRecord): string => {
    const record = from(row);
    for (const name of names) {
      const value = text(record?.[name]);
      if (value !== '') return value;
    }
    return '';
  };

const ofPerson = (row: FoundRecord) => row.person;
const ofCompany = (row: FoundRecord) => row.company;

const personColumns: FoundColumn[] = [
  {
    header: 'Name',
    cell: (row) => [text(row.person?.name), text(row.person?.surname)].filter(Boolean).join(' '),
  },
  { header: 'Email', cell: first(ofPerson, 'workEmail', 'email') },
  { header: 'Phone', cell: first(ofPerson, 'mobile', 'phone') },
  { header: 'Job title', cell: first(ofPerson, 'position', 'positions') },
  { header: 'Company', cell: first(ofPerson, 'company.name', 'company', 'currentCompanies') },
  { header: 'Location', cell: first(ofPerson, 'city', 'cities', 'locality', 'country') },
];
const companyColumns: FoundColumn[] = [
  { header: 'Company', cell: first(ofCompany, 'name') },
  { header: 'Domain', cell: first(ofCompany, 'domain') },
  { header: 'Industry', cell: first(ofCompany, 'industry', 'industries') },
  { header: 'Company size', cell: first(ofCompany, 'headCount', 'employees') },
];

export function foundColumns(operation: string): FoundColumn[] {
  if (operation === 'people.enrich') return personColumns;
  if (operation === 'people.enrich-with-company') {
    return [...personColumns.filter(({ header }) => header !== 'Company'), ...companyColumns];
  }
  if (operation === 'companies.enrich') return companyColumns;
  return [{ header: 'Found', cell: everything }];
}

/** Answers with a field or two are shown whole. */
function everything({ row: _row, input: _input, match: _match, ...found }: FoundRecord): string {
  return Object.values(found)
    .flatMap((value) => (typeof value === 'object' && value !== null ? Object.entries(value) : []))
    .filter(([name, value]) => !/(^|_)id$/.test(name) && text(value) !== '')
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${text(value)}`)
    .join(', ');
}
