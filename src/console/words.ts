/** The service's own words in a person's words. A word that is not here is shown as it is. */

import { kindLabels } from './priced-operations.ts';

/** Kinds of columns of a list. */
export const columnKinds: Record<string, string> = {
  ...kindLabels,
  country: 'Country',
  city: 'City',
  person_name: 'Full name',
  company_name: 'Company name',
};

/** Which identifier hit, where lower trust is named. */
const hits: Record<string, string> = {
  ...columnKinds,
  former_handle: 'Former handle',
  alias_domain: 'Other domain',
  former_name: 'Former name',
  alias_name: 'Other name',
  name_company: 'Name and company or place',
  decision: 'Your decision',
};

const reasons: Record<string, string> = {
  no_identifier: 'nothing to match on',
  footer: 'a line below the table',
  not_found: 'not found',
  empty: 'empty',
  too_long: 'too long',
  not_an_email: 'not an email address',
  digits_lost: 'a spreadsheet has cut digits off',
  free_mail_domain: 'a free mail provider, not a company',
  not_a_domain: 'not a domain',
  not_a_handle: 'not a handle',
  not_a_profile: 'not a profile URL',
  not_a_registry_number: 'not a company number',
  other_network: 'a profile on another network',
  page_on_a_network: 'a page on a network, not a company’s own',
  public_suffix: 'a public suffix, not a company',
  unknown_country: 'unknown country',
  open_quote: 'a quote is never closed',
  record_too_long: 'the row is too long',
  too_many_columns: 'the row has too many cells',
  nul_byte: 'the row holds a NUL byte',
  opted_out: 'opted out',
  cancelled: 'cancelled before it was looked up',
  max_credits: 'the limit of credits was reached',
  processing_failed: 'failed on our side; not charged',
};

const outcomeWords: Record<string, string> = {
  matched: 'Matched',
  no_match: 'No match',
  ambiguous: 'Ambiguous',
  invalid: 'Unusable',
  suppressed: 'Opted out',
  duplicate: 'Duplicate',
  error: 'Error',
  not_processed: 'Not processed',
};

/** The name of an identifier, or of the several that a row without a match was looked up by: `domain name`. */
export const sayKind = (kinds: string): string =>
  kinds
    .split(' ')
    .map((kind) => hits[kind] ?? plain(kind))
    .join(', ');

/** Why a row did not match; `subject` is what a row of its list is about. */
export function sayReason(reason: string, subject: 'person' | 'company'): string {
  // The row may well name a company in a list of people.
  if (reason === 'empty_name') return `no ${subject} in the row`;
  return reasons[reason] ?? plain(reason);
}

export const sayOutcome = (outcome: string): string => outcomeWords[outcome] ?? plain(outcome);

function plain(word: string): string {
  return word.replaceAll('_', ' ');
}
