/** Finds the people of a data subject request. Live graph only: test people are fictional. */
import type { Context } from '../../core/context.ts';
import {
  type PersonIdentifierKind,
  personCodes,
  personIdentifierCodes,
} from '../../core/graph/identifier-kinds.ts';
import { findPresentIds } from '../../core/graph/merged-ids.ts';
import { personKeyOf } from '../../core/graph/person-key.ts';
import { presentPersonId } from '../../core/graph/sources/show-sources.ts';
import { findStatedPeople } from '../../core/graph/sources/stated-identifiers.ts';
import { conflict } from '../../core/lib/errors.ts';
import {
  type PersonIdentifier,
  personCodesOf,
  readPersonIdentifier,
} from '../../core/suppression/suppress.ts';
import { findHolders, type StoredIdentifier } from './erasure.sql.ts';

/** A person, by an identifier as given or by record id. */
export type PersonAsked = { identifier: string } | { id: number };

export interface FoundPeople {
  /** The identifier in canonical form; null for a request by id. */
  identifier: PersonIdentifier | null;
  ids: number[];
}

/**
 * Returns the people who hold the identifier, or did when they left the graph, or the id; one that was merged into another, as
 * earlier results may have it, leads to that one. Throws `AppError` `invalid_parameter`.
 */
export async function findPeople(
  { sql }: Pick<Context, 'sql'>,
  asked: PersonAsked,
): Promise<FoundPeople> {
  if ('id' in asked) return { identifier: null, ids: [await presentPersonId(sql, asked.id)] };
  const identifier = readPersonIdentifier(asked.identifier);
  const codes = personCodesOf(identifier.kind);
  const holders = await findHolders(sql, identifier.value, codes, personKeyOf(identifier));
  const stated = await findStatedPeople(sql, identifier.value, codes);
  return { identifier, ids: [...new Set([...holders, ...stated])].sort((a, b) => a - b) };
}

/**
 * As `findPeople` for at most one person, by the id that stays when an import has joined several who are not built yet. Throws
 * `AppError` 409 when several share the identifier.
 */
export async function findOnePerson(
  context: Pick<Context, 'sql'>,
  asked: PersonAsked,
): Promise<FoundPeople> {
  const found = await findPeople(context, asked);
  const present = await findPresentIds(context.sql, 'person', found.ids);
  const ids = [...new Set(found.ids.map((id) => present.get(id) ?? id))];
  if (ids.length <= 1) return { ...found, ids };
  throw conflict(
    'ambiguous_match',
    `${ids.length} people share this identifier: name one by id (${ids.join(', ')}).`,
  );
}

const kindOfCode = new Map(
  personCodes.map(({ code, kind }): [number, PersonIdentifierKind] => [code, kind]),
);
const nameOfCode = new Map<number, string>(
  Object.entries(personIdentifierCodes).map(([name, code]) => [code, name]),
);

/** The name of a stored kind. */
export function identifierName(code: number): string {
  return nameOfCode.get(code) ?? String(code);
}

/** A person's identifiers that no other person has: a switchboard does not identify one of many. */
export function ownIdentifiers(stored: readonly StoredIdentifier[]): PersonIdentifier[] {
  return stored.flatMap(({ code, value, isShared }) => {
    const kind = kindOfCode.get(code);
    return kind === undefined || isShared ? [] : [{ kind, value }];
  });
}
