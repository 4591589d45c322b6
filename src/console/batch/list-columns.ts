/** The columns that an operation can add to a list, and those chosen last. */
import { type ColumnSet, peopleColumns } from '../search/fields-chooser.tsx';
import { session } from '../session.ts';

const companyGroups = [
  {
    label: 'Company',
    fields: {
      id: 'Id',
      name: 'Name',
      aliases: 'Other names',
      formerNames: 'Former names',
      registryNumber: 'Company number',
      registryCountry: 'Country of the register',
      founded: 'Founded',
      status: 'Status',
      summary: 'Summary',
      logo: 'Logo',
    },
  },
  {
    label: 'Size and industry',
    fields: {
      headCount: 'Company size',
      employees: 'Employees',
      industry: 'Industry name',
      industries: 'Industry',
      industryId: 'Industry id',
      sicCodes: 'SIC codes',
    },
  },
  {
    label: 'Contact',
    fields: {
      domain: 'Domain',
      domains: 'All domains',
      website: 'Website',
      phone: 'Phone',
      email: 'Email',
      professional_network: 'Profile URL',
      twitter: 'Handle',
    },
  },
  {
    label: 'Location',
    fields: {
      street: 'Street',
      postcode: 'Postcode',
      locality: 'Location',
      city: 'City name',
      region: 'Region name',
      country: 'Country name',
      locationGeo: 'Coordinates',
      cities: 'City',
      cityId: 'City id',
      regions: 'Region',
      regionId: 'Region id',
      countries: 'Country',
      countryId: 'Country id',
    },
  },
  { label: 'Record', fields: { createdAt: 'Created', whenUpdated: 'Updated' } },
];
/** Columns inside other columns, which a file has only on request. */
const insideOthers = ['industry', 'city', 'region', 'country'];

export const companyColumns: ColumnSet = {
  groups: companyGroups,
  essentials: [
    ...['name', 'domain', 'website', 'phone', 'email', 'professional_network', 'industry'],
    ...['headCount', 'employees', 'registryNumber', 'city', 'region', 'country'],
  ],
  all: companyGroups
    .flatMap(({ fields }) => Object.keys(fields))
    .filter((name) => !insideOthers.includes(name)),
};

/** The same columns with the name of their record in front. */
function withRecord({ groups, essentials, all }: ColumnSet, record: string): ColumnSet {
  const named = (name: string) => `${record}.${name}`;
  const capital = record.slice(0, 1).toUpperCase() + record.slice(1);
  return {
    groups: groups.map(({ label, fields }) => ({
      label: label === capital ? label : `${capital}: ${label.toLowerCase()}`,
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [named(name), field]),
      ),
    })),
    essentials: essentials.map(named),
    all: all.map(named),
  };
}

function both(one: ColumnSet, other: ColumnSet): ColumnSet {
  return {
    groups: [...one.groups, ...other.groups],
    essentials: [...one.essentials, ...other.essentials],
    all: [...one.all, ...other.all],
  };
}

const columnSets: Readonly<Record<string, ColumnSet>> = {
  'people.enrich': peopleColumns,
  'people.enrich-with-company': both(
    withRecord(peopleColumns, 'person'),
    withRecord(companyColumns, 'company'),
  ),
  'companies.enrich': companyColumns,
};

/** The columns to choose from; null for an operation that adds a few fixed ones. */
export function columnsOf(operation: string): ColumnSet | null {
  return columnSets[operation] ?? null;
}

const storageKey = (operation: string) => `columns ${session.get()?.account.id ?? ''} ${operation}`;

/** The columns chosen last for such a list in this browser, or the essential ones; null for all. */
export function columnsLastChosen(operation: string): readonly string[] | null {
  const set = columnsOf(operation);
  if (set === null) return null;
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey(operation)) ?? '""');
    if (stored === null) return null;
    const known = new Set(set.groups.flatMap(({ fields }) => Object.keys(fields)));
    const isKnown = (name: unknown) => typeof name === 'string' && known.has(name);
    if (Array.isArray(stored) && stored.length > 0 && stored.every(isKnown)) return stored;
  } catch {
    // A browser that keeps nothing, or a text that another version wrote.
  }
  return set.essentials;
}

export function rememberColumns(operation: string, fields: readonly string[] | null): void {
  try {
    localStorage.setItem(storageKey(operation), JSON.stringify(fields));
  } catch {
    // A browser that keeps nothing.
  }
}
