/** Files of people in the form of each source that has them, of the same people: for tests that hold for all sources. */
import { csvOf } from './import-files.test-suite.ts';

/** A person of a file; a source leaves out what it has no column for. */
export interface FilePerson {
  /** A number, of which the source makes an id if it has any. */
  key: string;
  name: string;
  surname: string;
  email?: string | undefined;
  email2?: string | undefined;
  phone?: string | undefined;
  mobile?: string | undefined;
  profile?: string | undefined;
  handle?: string | undefined;
  isOptedOut?: boolean;
}

export type AddressKind = 'email' | 'email2' | 'phone' | 'mobile' | 'profile' | 'handle';

export interface PeopleFile {
  source: string;
  file: string;
  /** The addresses that it has columns for. */
  has: readonly AddressKind[];
  /** It has ids: without them an address is the key. */
  hasIds: boolean;
  hasOptOuts: boolean;
  /** The columns of a mapping; undefined for a source that an adapter reads. */
  columns?: Record<string, string[]>;
  text(people: readonly FilePerson[]): string;
}

const all = ['email', 'email2', 'phone', 'mobile', 'profile', 'handle'] as const;
const withoutHandle = ['email', 'email2', 'phone', 'mobile', 'profile'] as const;
const calls = ['email', 'email2', 'phone', 'mobile'] as const;

type Cells = Partial<Record<keyof FilePerson, string>>;

/** A CSV file: its columns by what they hold, the cells of others, and how its texts differ from those of a person. */
function csvFile(
  given: Pick<PeopleFile, 'source' | 'has' | 'columns'>,
  columns: Cells,
  others: Record<string, string> = {},
  change: Partial<Record<keyof FilePerson, (text: string) => string>> = {},
): PeopleFile {
  const header = [...Object.values(columns), ...Object.keys(others)];
  return {
    ...given,
    file: 'file.csv',
    hasIds: columns.key !== undefined,
    hasOptOuts: columns.isOptedOut !== undefined,
    text: (people) =>
      csvOf(
        header,
        people.map((person) => {
          const texts = { ...person, isOptedOut: person.isOptedOut === true ? 'yes' : '' };
          const cells = Object.entries(columns).map(([field, column]) => {
            const text = texts[field as keyof FilePerson] ?? '';
            return [column, change[field as keyof FilePerson]?.(text) ?? text];
          });
          return { ...others, ...Object.fromEntries(cells) };
        }),
      ),
  };
}

const names = { name: 'First Name', surname: 'Last Name' };
const salesforce = {
  name: 'FirstName',
  surname: 'LastName',
  key: 'Id',
  email: 'Email',
  phone: 'Phone',
  mobile: 'MobilePhone',
};
const salesforceId = (prefix: string) => ({ key: (key: string) => prefix + key.padStart(12, '0') });
const apollo = {
  ...names,
  email: 'Email',
  email2: 'Secondary Email',
  phone: 'Work Direct Phone',
  mobile: 'Mobile Phone',
  profile: 'Person Linkedin Url',
  isOptedOut: 'Do Not Call',
};
const mapped = {
  name: 'Given',
  surname: 'Family',
  email: 'Mail',
  email2: 'Mail 2',
  phone: 'Tel',
  mobile: 'Mob',
  profile: 'Page',
  handle: 'X',
  isOptedOut: 'Out',
};
const mapping = {
  given_name: ['Given'],
  family_name: ['Family'],
  email: ['Mail', 'Mail 2'],
  phone: ['Tel'],
  mobile: ['Mob'],
  professional_network: ['Page'],
  twitter: ['X'],
  opt_out: ['Out'],
};

function cardFile(hasIds: boolean): PeopleFile {
  const line = (name: string, text: string | undefined) =>
    text === undefined || text === '' ? [] : [`${name}:${text}`];
  const card = (person: FilePerson) => [
    'BEGIN:VCARD',
    'VERSION:3.0',
    ...(hasIds ? [`UID:${person.key}`] : []),
    `N:${person.surname};${person.name};;;`,
    ...line('EMAIL', person.email),
    ...line('EMAIL', person.email2),
    ...line('TEL', person.phone),
    ...line('TEL;TYPE=CELL', person.mobile),
    ...line('URL', person.profile),
    ...line('X-SOCIALPROFILE', person.handle && `https://twitter.com/${person.handle}`),
    'END:VCARD\n',
  ];
  return {
    source: 'vcard',
    file: 'a.vcf',
    has: all,
    hasIds,
    hasOptOuts: false,
    text: (people) => people.map((person) => card(person).join('\n')).join(''),
  };
}

const partners = csvFile(
  { source: 'partners', has: all, columns: { ...mapping, key: ['No'] } },
  { ...mapped, key: 'No' },
);

/** By name. */
export const peopleFiles = {
  hubspot: csvFile(
    { source: 'hubspot', has: all },
    {
      ...names,
      key: 'Record ID',
      email: 'Email',
      email2: 'Additional email addresses',
      phone: 'Phone Number',
      mobile: 'Mobile Phone Number',
      profile: 'LinkedIn URL',
      handle: 'Twitter Username',
      isOptedOut: 'Unsubscribed from all email',
    },
  ),
  'hubspot list': csvFile(
    { source: 'hubspot', has: ['email', 'phone'] },
    {
      ...names,
      key: 'Record ID - Contact',
      email: 'Email',
      phone: 'Phone Number',
      isOptedOut: 'Unsubscribed from all email',
    },
  ),
  salesforce: csvFile(
    { source: 'salesforce', has: ['email', 'phone', 'mobile'] },
    { ...salesforce, isOptedOut: 'HasOptedOutOfEmail' },
    { IsDeleted: '', AccountId: '' },
    salesforceId('003'),
  ),
  'salesforce leads': csvFile(
    { source: 'salesforce', has: ['email', 'phone', 'mobile'] },
    { ...salesforce, isOptedOut: 'DoNotCall' },
    { IsConverted: '', IsDeleted: '', Company: '' },
    salesforceId('00Q'),
  ),
  'salesforce report': csvFile(
    { source: 'salesforce', has: ['email', 'phone', 'mobile'] },
    {
      ...names,
      key: 'Contact ID',
      email: 'Email',
      phone: 'Phone',
      mobile: 'Mobile',
      isOptedOut: 'Email Opt Out',
    },
    {},
    salesforceId('003'),
  ),
  apollo: csvFile(
    { source: 'apollo', has: withoutHandle },
    { ...apollo, key: 'Apollo Contact Id' },
    {
      'Email Status': '',
    },
  ),
  'apollo without ids': csvFile({ source: 'apollo', has: withoutHandle }, apollo, {
    'Email Status': '',
  }),
  pipedrive: csvFile(
    { source: 'pipedrive', has: withoutHandle },
    {
      key: 'Person - ID',
      name: 'Person - First name',
      surname: 'Person - Last name',
      email: 'Person - Email - Work',
      email2: 'Person - Email - Home',
      phone: 'Person - Phone - Work',
      mobile: 'Person - Phone - Mobile',
      profile: 'Person - LinkedIn Page',
      isOptedOut: 'Person - Marketing status',
    },
    { 'Person - Name': '' },
    { isOptedOut: (text) => (text === 'yes' ? 'unsubscribed' : text) },
  ),
  linkedin: csvFile(
    { source: 'linkedin', has: ['email', 'profile'] },
    { ...names, email: 'Email Address', profile: 'URL' },
    { Position: '', 'Connected On': '' },
  ),
  'google-contacts': csvFile(
    { source: 'google-contacts', has: calls },
    {
      ...names,
      email: 'E-mail 1 - Value',
      email2: 'E-mail 2 - Value',
      phone: 'Phone 1 - Value',
      mobile: 'Phone 2 - Value',
    },
    { 'Organization Name': '', Labels: '', 'Phone 2 - Label': 'Mobile' },
  ),
  outlook: csvFile(
    { source: 'outlook', has: calls },
    {
      ...names,
      email: 'E-mail Address',
      email2: 'E-mail 2 Address',
      phone: 'Business Phone',
      mobile: 'Mobile Phone',
    },
    { 'Business Street': '' },
  ),
  vcard: cardFile(true),
  'vcard without ids': cardFile(false),
  'own columns': partners,
  'own columns without ids': csvFile({ source: 'clubs', has: all, columns: mapping }, mapped),
  'own JSON lines': {
    ...partners,
    source: 'fairs',
    file: 'file.jsonl',
    text: (people) =>
      people
        .map((person) => {
          const { key, isOptedOut, ...texts } = person;
          const entries = Object.entries(mapped).map(([field, column]) => {
            return [column, texts[field as keyof typeof texts] ?? ''];
          });
          const members = { ...Object.fromEntries(entries), No: key };
          return JSON.stringify({ ...members, Out: isOptedOut === true ? 'yes' : '' });
        })
        .join('\n'),
  },
} as const satisfies Record<string, PeopleFile>;
