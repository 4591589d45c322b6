/**
 * The table of identifier kinds, and the single conversion from text to canonical identifiers. Enrichment, import,
 * search and suppression all use it, so that values stored by one are found by another.
 */
import { name } from './company-name.ts';
import { domain } from './domain.ts';
import { email } from './email.ts';
import type { KindDescription, NormaliseContext } from './kind.ts';
import { twitter } from './microblog-handle.ts';
import type { Normalised } from './normalised.ts';
import { phone } from './phone.ts';
import { withoutPlaceholder } from './placeholder.ts';
import { professionalNetwork } from './profile-url.ts';
import { registryNumber } from './registry-number.ts';

/** In the order in which a text of unknown kind is tried: an address that contains a host comes before the domain. */
const kinds = {
  email,
  phone,
  professional_network: professionalNetwork,
  twitter,
  registry_number: registryNumber,
  domain,
  name,
} as const satisfies Record<string, KindDescription>;

export type IdentifierKind = keyof typeof kinds;

/** The kinds with their own codes. */
export type Kinds = typeof kinds;

export const identifierKinds: Readonly<Record<IdentifierKind, KindDescription>> = kinds;

export const kindNames = Object.keys(kinds) as readonly IdentifierKind[];

export function isIdentifierKind(name: string): name is IdentifierKind {
  return Object.hasOwn(kinds, name);
}

/**
 * True for the address of a mailbox in the place of a domain: its domain may be that of another company, as of a parent or an
 * agency.
 */
export function isAddressForDomain(kind: IdentifierKind, text: string): boolean {
  return kind === 'domain' && text.includes('@');
}

/** Returns the text of a cell or a parameter of the kind, or '' for one that says that there is no value. */
export function statedText(kind: IdentifierKind, text: string | undefined): string {
  const stated = withoutPlaceholder(text);
  return identifierKinds[kind].isNone?.(stated.trim()) ? '' : stated;
}

/** Returns the canonical values of a text, in the order to try, or the reason why it has none. */
export function normaliseIdentifier(
  kind: IdentifierKind,
  text: string,
  context: NormaliseContext,
): Normalised {
  return identifierKinds[kind].normalise(text, context);
}
