/**
 * The single conversion from text to canonical identifiers. Enrichment, import, search and suppression all use it,
 * so that values stored by one are found by another.
 */
import { normaliseCompanyName } from './company-name.ts';
import { normaliseDomain } from './domain.ts';
import { normaliseEmail } from './email.ts';
import { normaliseMicroblogHandle } from './microblog-handle.ts';
import type { Normalised } from './normalised.ts';
import { normalisePhone } from './phone.ts';
import { normaliseProfileUrl } from './profile-url.ts';
import { normaliseRegistryNumber } from './registry-number.ts';

export type { Normalised } from './normalised.ts';

export const identifierKinds = [
  'professional_network',
  'email',
  'phone',
  'twitter',
  'registry_number',
  'domain',
  'name',
] as const;
export type IdentifierKind = (typeof identifierKinds)[number];

export interface NormaliseContext {
  /** The kind of profile that a profile URL must be. */
  subject: 'person' | 'company';
  /** ISO 3166 alpha-2 region of national phone numbers. */
  region?: string;
  /** ISO 3166 alpha-2 country of the register of registry numbers; default GB. */
  registryCountry?: string;
  /** The text is a query parameter, where an unescaped `+` arrives as a space. */
  fromQuery?: boolean;
}

/** The kinds whose values depend on `region` or `registryCountry`. */
export const kindsOfCountries: ReadonlySet<IdentifierKind> = new Set<IdentifierKind>([
  'phone',
  'registry_number',
]);

/**
 * Returns the canonical values of a text, in the order to try, or the reason why it has none. Never throws; takes
 * time linear in the length. The first value normalises to itself.
 */
export function normaliseIdentifier(
  kind: IdentifierKind,
  text: string,
  context: NormaliseContext,
): Normalised {
  switch (kind) {
    case 'professional_network':
      return normaliseProfileUrl(text, context.subject);
    case 'email':
      return normaliseEmail(text);
    case 'phone':
      return normalisePhone(text, context.region, context.fromQuery);
    case 'twitter':
      return normaliseMicroblogHandle(text);
    case 'registry_number':
      return normaliseRegistryNumber(text, context.registryCountry);
    case 'domain':
      return normaliseDomain(text);
    case 'name':
      return normaliseCompanyName(text);
  }
}
