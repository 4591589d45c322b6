/**
 * The one door from text to canonical identifiers. Enrichment, import, search and suppression call
 * it, so a value that one of them stores is the value that another looks up.
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

export type IdentifierKind =
  | 'professional_network'
  | 'email'
  | 'phone'
  | 'twitter'
  | 'registry_number'
  | 'domain'
  | 'name';

export interface NormaliseContext {
  /** Whose profile a profile URL must be. */
  subject: 'person' | 'company';
  /** ISO 3166 alpha-2 region that national phone numbers belong to. */
  region?: string;
  /** ISO 3166 alpha-2 country of the register of registry numbers; default GB. */
  registryCountry?: string;
  /** The text is a query parameter, where an unescaped `+` arrives as a space. */
  fromQuery?: boolean;
}

/**
 * The canonical values of a text, in the order to try, or the reason why it has none. Never
 * throws, whatever the text; takes time linear in its length. The first value normalises to itself.
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
