/** The priced operations: what can be asked about the rows of a list. */
export interface Operation {
  name: string;
  label: string;
  /** Credits of a match. */
  price: number;
  /** What a match brings. */
  about: string;
  /** Kinds of columns by which it finds whom a row means, the most trusted first. */
  identifiers: readonly string[];
}

/** Columns that help to read a row, and to judge what it matches. */
export const contextKinds = ['country', 'person_name', 'company_name'] as const;

const person = ['professional_network', 'email', 'phone', 'twitter'] as const;
const company = ['registry_number', 'domain', 'professional_network', 'phone', 'name'] as const;

export const operations: readonly Operation[] = [
  {
    name: 'people.enrich',
    label: 'Enrich people',
    price: 1,
    about: 'The person: position, company, e-mails, phones, place.',
    identifiers: person,
  },
  {
    name: 'people.enrich-with-company',
    label: 'Enrich people with their company',
    price: 1,
    about: 'The person, and the company that employs them.',
    identifiers: person,
  },
  {
    name: 'people.mobile',
    label: 'Find mobile numbers',
    price: 8,
    about: 'The mobile number of a person.',
    identifiers: ['professional_network', 'email'],
  },
  {
    name: 'people.email-verify',
    label: 'Verify work e-mails',
    price: 1,
    about: 'Whether a work e-mail is valid.',
    identifiers: ['email'],
  },
  {
    name: 'companies.enrich',
    label: 'Enrich companies',
    price: 1,
    about: 'The company: industry, size, address, directors of UK companies.',
    identifiers: company,
  },
  {
    name: 'companies.logo',
    label: 'Find company logos',
    price: 1,
    about: 'The address of the logo.',
    identifiers: company,
  },
  {
    name: 'companies.financials',
    label: 'Find company financials',
    price: 1,
    about: 'The latest financial period.',
    identifiers: company,
  },
];

export function findOperation(name: string): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}

export function operationLabel(name: string): string {
  return findOperation(name)?.label ?? name;
}
