/**
 * The priced operations, one row each: routes, batch operations, charges, the OpenAPI document, the console's
 * operations and the prices of README.md derive from this table. Identifiers are in order of trust.
 */
import type { IdentifierKind } from './identifiers/identifier.ts';

export type OperationName = keyof typeof operations;

/** The parts of a person that an account with `owned_days` pays for once. */
export type Owned = 'record' | 'mobile';

export interface Operation {
  /** Path of the single call. */
  path: string;
  /** Credits of one match. A miss costs nothing. */
  price: number;
  subject: 'person' | 'company';
  /**
   * The part of a person that the account owns after paying: the record, whichever operation brought it, or the mobile
   * number. Null for what is charged each time: a verification is of the moment, and companies are not people.
   */
  owned: Owned | null;
  identifiers: readonly IdentifierKind[];
  /** Meaning of a match, for the documentation. */
  success: string;
  /** The `data` of its response, for `docs/api.md`. */
  data: string;
  /** Its name and what a match brings, in the console. */
  label: string;
  about: string;
  /** Names a result in the name of its file: `leads people enriched 2026-11-26.csv`. */
  result: string;
}

const personIdentifiers = ['professional_network', 'email', 'phone', 'twitter'] as const;
const companyIdentifiers = [
  'registry_number',
  'domain',
  'professional_network',
  'phone',
  'name',
] as const;

export const operations = {
  'people.enrich': {
    path: '/v1/people/enrich',
    price: 1,
    subject: 'person',
    owned: 'record',
    identifiers: personIdentifiers,
    success: 'a stored person',
    data: 'the person',
    label: 'Enrich people',
    about: 'Adds job title, company, emails, phone numbers and location.',
    result: 'people enriched',
  },
  'people.enrich-with-company': {
    path: '/v1/people/enrich-with-company',
    price: 1,
    subject: 'person',
    owned: 'record',
    identifiers: personIdentifiers,
    success: 'a stored person; the company may be null',
    data: '`{person, company}`; company may be null',
    label: 'Enrich people with their company',
    about: 'Adds the person and the company that employs them.',
    result: 'people and companies enriched',
  },
  'people.mobile': {
    path: '/v1/people/mobile',
    price: 8,
    subject: 'person',
    owned: 'mobile',
    identifiers: ['professional_network', 'email'],
    success: 'a stored mobile number',
    data: '`{person_id, mobile}`',
    label: 'Find mobile numbers',
    about: 'Adds the mobile number of a person.',
    result: 'mobile numbers',
  },
  'people.email-verify': {
    path: '/v1/people/email/verify',
    price: 1,
    subject: 'person',
    owned: null,
    identifiers: ['email'],
    success: 'a work email in the graph',
    data: '`{email, status, verified_at, person_id}`',
    label: 'Verify work emails',
    about: 'Checks whether a work email is valid.',
    result: 'emails verified',
  },
  'companies.enrich': {
    path: '/v1/companies/enrich',
    price: 1,
    subject: 'company',
    owned: null,
    identifiers: companyIdentifiers,
    success: 'a stored company',
    data: 'the company; `directors` for a UK number',
    label: 'Enrich companies',
    about: 'Adds industry, size and address; for rows with a UK company number also the directors.',
    result: 'companies enriched',
  },
  'companies.logo': {
    path: '/v1/companies/logo',
    price: 1,
    subject: 'company',
    owned: null,
    identifiers: companyIdentifiers,
    success: 'a stored logo URL',
    data: '`{company_id, logo_url}`',
    label: 'Find company logos',
    about: 'Adds the URL of the logo.',
    result: 'logos',
  },
  'companies.financials': {
    path: '/v1/companies/financials',
    price: 1,
    subject: 'company',
    owned: null,
    identifiers: companyIdentifiers,
    success: 'at least one stored financial period',
    data: '`{company_id, currency, periods}`',
    label: 'Find company financials',
    about: 'Adds the latest financial period.',
    result: 'financials',
  },
} as const satisfies Record<string, Operation>;

/** A person search, page by page or as an export: each person delivered is charged. */
export const personSearch = { name: 'people.search', price: 1, owned: 'record' } as const;

/** The operations that a ledger line may name. */
export type PricedOperation = OperationName | typeof personSearch.name;

/** Returns the subject of the responses. */
export function subjectOf(operation: PricedOperation): 'person' | 'company' {
  return operation === personSearch.name ? 'person' : operations[operation].subject;
}

/** Returns the credits of one match, or of one person delivered. */
export function priceOf(operation: PricedOperation): number {
  return operation === personSearch.name ? personSearch.price : operations[operation].price;
}

/** Returns what an account owns of a person after paying; null for an operation that is charged each time. */
export function ownedBy(operation: PricedOperation): Owned | null {
  return operation === personSearch.name ? personSearch.owned : operations[operation].owned;
}

/** Credits of a match of each operation, and of a person of a search. */
export const prices: readonly { operation: PricedOperation; price: number }[] = [
  ...(Object.keys(operations) as OperationName[]),
  personSearch.name,
].map((operation) => ({ operation, price: priceOf(operation) }));

/** `1 credit`, `20 credits`. */
export function creditsText(credits: number): string {
  return credits === 1 ? '1 credit' : `${credits} credits`;
}

/** Maximum names of fields that one request selects: more than any operation has. */
export const FIELDS_MAX = 200;

/** The price of a person of a search in words: `1 credit`. */
export const PERSON_PRICE_TEXT = creditsText(priceOf(personSearch.name));

/** True when the text names an operation. */
export function isOperationName(text: string): text is OperationName {
  return Object.hasOwn(operations, text);
}
