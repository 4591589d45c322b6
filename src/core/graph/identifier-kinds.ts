/**
 * Codes of the look-up tables: one row per (value, kind, record). The codes are stored, so they are never
 * renumbered. Values of different kinds share one column; a look-up is by value, and the kind is checked in the
 * result.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';

/** Kinds of `person_identifiers.kind`. */
export const personIdentifierCodes = {
  professional_network: 1,
  email: 2,
  /** The work e-mail: also found by `email`, and the only kind that e-mail verification accepts. */
  work_email: 3,
  /** Telephone and mobile alike. */
  phone: 4,
  twitter: 5,
  /** A former microblog handle of the person: lower trust. */
  former_handle: 6,
} as const;

/** The identifier kind that each code is looked up, and opted out, as. */
export const personKindOf = {
  professional_network: 'professional_network',
  email: 'email',
  work_email: 'email',
  phone: 'phone',
  twitter: 'twitter',
  former_handle: 'twitter',
} as const satisfies Record<keyof typeof personIdentifierCodes, IdentifierKind>;

/** The kinds that identify a person. */
export type PersonIdentifierKind = (typeof personKindOf)[keyof typeof personKindOf];

/** The codes of `person_identifiers.kind`, each with its identifier kind. */
export const personCodes = Object.entries(personKindOf).map(([name, kind]) => ({
  code: personIdentifierCodes[name as keyof typeof personKindOf],
  kind,
}));

/** Kinds of `company_identifiers.kind`. */
export const companyIdentifierCodes = {
  /** `<ISO country>-<number>`, e.g. `GB-00048839`. */
  registry_number: 1,
  domain: 2,
  /** An additional domain of the company: lower trust. */
  alias_domain: 3,
  professional_network: 4,
  phone: 5,
  name: 6,
  /** Another name in use: lower trust. */
  alias_name: 7,
  /** A former name: lower trust. */
  former_name: 8,
  /** A domain of a dissolved company: found only when no other company has it. */
  ended_domain: 9,
  /** A name of a dissolved company: likewise. */
  ended_name: 10,
} as const;
