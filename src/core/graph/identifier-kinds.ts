/**
 * Codes of the look-up tables: one row per (value, kind, record), from the table of identifier kinds. The codes are
 * stored, so they are never renumbered. Values of different kinds share one column; a look-up is by value, and the
 * kind is checked in the result.
 */
import {
  type IdentifierKind,
  identifierKinds,
  type Kinds,
  kindNames,
} from '../identifiers/identifier.ts';
import type { StoredCode } from '../identifiers/kind.ts';

type Subject = 'person' | 'company';

/** The kinds that identify a subject. */
type KindOf<S extends Subject> = {
  [Kind in IdentifierKind]: Kinds[Kind] extends Record<S, object> ? Kind : never;
}[IdentifierKind];

/** The names of the codes of a subject. */
type CodeName<S extends Subject> = {
  [Kind in KindOf<S>]: Kinds[Kind] extends Record<S, { stored: readonly { name: infer N }[] }>
    ? N
    : never;
}[KindOf<S>] &
  string;

/** A code with the kind that it is looked up, and opted out, as. */
export interface KindCode<Kind = IdentifierKind> extends StoredCode {
  kind: Kind;
}

export type PersonIdentifierKind = KindOf<'person'>;

/** The codes of `person_identifiers.kind`. */
export const personCodes = codesOf('person') as readonly KindCode<PersonIdentifierKind>[];

/** The codes of `company_identifiers.kind`. */
export const companyCodes = codesOf('company');

/** The codes of `person_identifiers.kind` by name. */
export const personIdentifierCodes = byName<CodeName<'person'>>(personCodes);

/** The codes of `company_identifiers.kind` by name. */
export const companyIdentifierCodes = byName<CodeName<'company'>>(companyCodes);

function codesOf(subject: Subject): KindCode[] {
  return kindNames.flatMap((kind) =>
    (identifierKinds[kind][subject]?.stored ?? []).map((stored) => ({ kind, ...stored })),
  );
}

function byName<Name extends string>(codes: readonly KindCode[]): Readonly<Record<Name, number>> {
  const numbers = Object.fromEntries(codes.map(({ name, code }) => [name, code]));
  return numbers as Record<Name, number>;
}
