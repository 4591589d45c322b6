/**
 * A graph of a few fictional people and companies with a case for every rule of matching, and the expected
 * records.
 */

/** A person with only an id. */
export const emptyPerson = {
  id: 0,
  createdAt: '2024-01-02T03:04:05',
  whenUpdated: '2024-01-02T03:04:05',
  title: '',
  name: '',
  surname: '',
  gender: '',
  birthDate: null,
  birthYear: 0,
  domain: null,
  email: '',
  workEmail: '',
  professional_network: '',
  professional_networkConnections: 0,
  professional_networkStatus: null,
  twitter: null,
  twitterStatus: null,
  social_aId: '',
  social_aUsername: '',
  social_aStatus: null,
  industryId: 0,
  industries: null,
  position: '',
  positionId: 0,
  positions: null,
  experience: '',
  inferredSalary: '',
  inferredYearsExperience: 0,
  skills: '',
  summary: '',
  school: null,
  profileLanguage: null,
  language: '',
  serviceCategories: null,
  pastCompany: '',
  pastCompanyId: null,
  pastCompanies: null,
  companyId: 0,
  company: null,
  currentCompanyId: null,
  currentCompanies: null,
  locality: '',
  locationGeo: '',
  street: '',
  postcode: null,
  ipAddress: null,
  cityId: 0,
  cities: {
    id: 0,
    name: '',
    countryId: 0,
    countries: null,
    regionId: 0,
    regions: null,
    createdAt: '1970-01-01T00:00:00',
  },
  countryId: 0,
  countries: null,
  regionId: null,
  regions: null,
  phone: '',
  mobile: null,
  phoneStatus: null,
  mobileStatus: null,
  emailStatus: null,
  workEmailStatus: null,
  dataSourceType: 0,
  statusType: 0,
  bounceResponseType: 0,
  profileImage: null,
  profileImageMapping: null,
  lastPost: null,
  lastPostDate: null,
};

/** A company with only an id and a name. */
export const emptyCompany = {
  id: 0,
  createdAt: '2024-01-02T03:04:05',
  whenUpdated: '2024-01-02T03:04:05',
  name: '',
  domain: null,
  website: null,
  professional_network: null,
  registryNumber: null,
  registryCountry: null,
  phone: null,
  email: null,
  twitter: null,
  industryId: null,
  industries: null,
  headCount: null,
  employees: null,
  founded: null,
  summary: null,
  logo: null,
  street: null,
  postcode: null,
  locality: null,
  locationGeo: null,
  cityId: null,
  cities: null,
  regionId: null,
  regions: null,
  countryId: null,
  countries: null,
  domains: [],
  aliases: [],
  formerNames: [],
  sicCodes: [],
  status: null,
};

/** Works at Acme, has everything. */
export const ada = {
  id: 1,
  createdAt: '2020-02-03T04:05:06',
  whenUpdated: '2023-11-12T13:14:15',
  name: 'Ada',
  surname: 'Lovely',
  gender: 'female',
  birthDate: '1980-05-03',
  birthYear: 1980,
  email: 'ada@home.example',
  workEmail: 'ada@acme.example',
  workEmailStatus: 'valid',
  professional_network: 'ada-lovely',
  twitter: 'ada',
  phone: '+441632960001',
  mobile: '+447700900001',
  skills: 'Writing, "quoting", lists',
  summary: 'Two\nlines; and, commas.',
  companyId: 10,
};
/** Two people with the same name and year of birth; the first has no mobile and no company. */
export const bob = {
  id: 2,
  name: 'Bob',
  surname: 'Brown',
  birthYear: 1975,
  email: 'bob@home.example',
  workEmail: 'bob@acme.example',
  workEmailStatus: 'checked by hand',
};
const otherBob = {
  id: 3,
  name: 'Bob',
  surname: 'Brown',
  birthYear: 1975,
  email: 'bob.brown@home.example',
  phone: '+441632960099',
  professional_network: 'bob-brown',
};
/** Shares a switchboard with the other Bob. Her employer is not stored. */
export const eve = {
  id: 4,
  name: 'Eve',
  surname: 'Sample',
  email: 'eve@home.example',
  workEmail: 'eve@gone.example',
  workEmailStatus: 'catch_all',
  phone: '+441632960099',
  twitter: 'eve',
  companyId: 999,
  _meta: { twitterFormer: ['eve_old'] },
};
/** Opts out after the import. */
const opted = {
  id: 5,
  name: 'Opt',
  surname: 'Out',
  birthYear: 1970,
  email: 'out@home.example',
  workEmail: 'out@acme.example',
  professional_network: 'opt-out',
  mobile: '+447700900005',
};
const people = [ada, bob, otherBob, eve, opted];

export const acme = {
  id: 10,
  name: 'Acme Widgets Ltd',
  domain: 'acme.example',
  website: 'https://www.acme.example/',
  professional_network: 'acme-widgets',
  registryNumber: '01234567',
  registryCountry: 'GB',
  phone: '+441632960100',
  logo: 'https://img.acme.example/logo.png',
  domains: ['acme-widgets.example'],
  sicCodes: ['62020'],
  industryId: 62,
  industries: { id: 62, name: 'Software' },
};
/** No logo, no accounts; shares a switchboard with Gamma, and formerly had Gamma's name. */
export const beta = {
  id: 11,
  name: 'Beta Trading Limited',
  domain: 'beta.example',
  registryNumber: 'SC123456',
  registryCountry: 'GB',
  phone: '+441632960200',
  formerNames: ['Gamma', 'Old Beta Ltd'],
};
/** French: its officers are never queried. */
const gamma = {
  id: 12,
  name: 'Gamma SA',
  registryNumber: '552100554',
  registryCountry: 'FR',
  phone: '+441632960200',
  aliases: ['Gamma Group of Lyon'],
};
const firms = [acme, beta, gamma];

/** Officers of Acme, one for each way to find or miss a director, and one of Gamma. */
const officers = [
  {
    companyId: 10,
    name: 'LOVELY, Ada',
    role: 'director',
    appointedOn: '2019-01-01',
    birthYear: 1980,
    birthMonth: 5,
  },
  {
    companyId: 10,
    name: 'LOVELY, Ada',
    role: 'month differs',
    appointedOn: '2018-01-01',
    birthYear: 1980,
    birthMonth: 6,
  },
  { companyId: 10, name: 'Ada Lovely', role: 'no birth known', appointedOn: '2017-01-01' },
  {
    companyId: 10,
    name: 'BROWN, Bob',
    role: 'two fit',
    appointedOn: '2016-01-01',
    birthYear: 1975,
  },
  {
    companyId: 10,
    name: 'NOBODY, Ned',
    role: 'none fits',
    appointedOn: '2015-01-01',
    birthYear: 1960,
  },
  { companyId: 10, name: 'SAMPLE, Eve Q', role: 'linked', appointedOn: '2014-01-01', personId: 4 },
  {
    companyId: 10,
    name: 'OUT, Opt',
    role: 'opted out',
    appointedOn: '2013-01-01',
    birthYear: 1970,
  },
  {
    companyId: 10,
    name: 'OUT, O',
    role: 'opted out, linked',
    appointedOn: '2012-01-01',
    personId: 5,
  },
  {
    companyId: 10,
    name: 'LÖVELY, Àda',
    role: 'accents differ',
    appointedOn: '2011-01-01',
    resignedOn: '2012-06-30',
    birthYear: 1980,
  },
  { companyId: 12, name: 'Eve Sample', role: 'gérante', personId: 4 },
];

/** Accounts of Acme, oldest first. */
const financials = [
  { companyId: 10, periodEnd: '2021-12-31', currency: 'EUR', revenue: 900 },
  {
    companyId: 10,
    periodEnd: '2022-12-31',
    currency: 'GBP',
    revenue: 1000,
    profit: -5,
    employees: 3,
  },
  { companyId: 10, periodEnd: '2020-12-31', currency: 'EUR', cash: 1 },
];

export const smallGraph = { companies: firms, persons: people, officers, financials };

/** People with only an email: `p1@list.example` has the id 1001, and so on. */
export function crowd(people: number): Record<string, unknown>[] {
  return Array.from({ length: people }, (_, index) => {
    return { id: 1001 + index, email: `p${index + 1}@list.example` };
  });
}

/** A list in which `m` is the next person of the crowd and `.` a miss. */
export function crowdList(pattern: string): string {
  let person = 0;
  const rows = [...pattern].map((letter, index) => {
    if (letter === 'm') person += 1;
    return letter === 'm' ? `p${person}@list.example` : `nobody${index}@list.example`;
  });
  return `email\n${rows.join('\n')}\n`;
}

/** A list of people of the crowd, those from the first number up to the second one, which it leaves out. */
export function crowdRange(from: number, to: number): string {
  const emails = Array.from({ length: to - from }, (_, index) => `p${from + index}@list.example`);
  return `Email\n${emails.join('\n')}\n`;
}
