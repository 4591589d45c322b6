/** Opting out: a person is found by what they gave and never served again. */
import { createHash } from 'node:crypto';
import type { Sql } from '../db/client.ts';
import { personIdentifierCodes as codes } from '../graph/identifier-kinds.ts';
import { writeGraph } from '../graph/write-graph.ts';
import { type IdentifierKind, normaliseIdentifier } from '../identifiers/identifier.ts';
import { AppError } from '../lib/errors.ts';
import { findSuppressed, insertSuppression } from './queries.ts';

/** The kinds a person may be named by, in the order in which a text is tried. */
const kinds = ['email', 'phone', 'professional_network', 'twitter'] as const;

/** Stored identifiers of a person that each kind stands for; a handle given up still names them. */
const personCodesOf = {
  email: [codes.email, codes.work_email],
  phone: [codes.phone],
  professional_network: [codes.professional_network],
  twitter: [codes.twitter, codes.former_handle],
};

/** The hash under which an identifier of a person is kept: of `<kind>:<canonical value>`. */
function suppressionHash(kind: IdentifierKind, value: string): Buffer {
  return createHash('sha256').update(`${kind}:${value}`).digest();
}

/**
 * Suppresses whoever holds the identifier now, and whoever is imported with it later. Returns how many
 * stored people it reached. Throws `AppError` `invalid_parameter` for a text that is no identifier.
 */
export async function suppress(sql: Sql, identifier: string): Promise<{ persons: number }> {
  const kind = kinds.find((candidate) => looksLike(candidate, identifier));
  const normalised = kind && normaliseIdentifier(kind, identifier, { subject: 'person' });
  if (kind === undefined || normalised === undefined || 'reason' in normalised) {
    throw new AppError({
      code: 'invalid_parameter',
      status: 400,
      message: `\`${identifier}\` is no e-mail, phone number with country code, profile URL or @handle.`,
    });
  }
  const [value] = normalised.values;
  const persons = await writeGraph(sql, (tx) =>
    insertSuppression(tx, {
      hash: suppressionHash(kind, value),
      value,
      codes: personCodesOf[kind],
    }),
  );
  return { persons };
}

/** True when one of these people opted out of the graph that `sql` sees. */
export async function isAnySuppressed(sql: Sql, personIds: readonly number[]): Promise<boolean> {
  return personIds.length > 0 && (await findSuppressed(sql, personIds)).length > 0;
}

function looksLike(kind: (typeof kinds)[number], text: string): boolean {
  if (kind === 'email') return /.@./.test(text);
  if (kind === 'phone') return /^\s*\+[\d\s().-]+$/.test(text);
  if (kind === 'professional_network') return /\/(in|pub)\//i.test(text);
  return /^\s*@|\/\/(www\.|mobile\.)?(twitter|x)\.com\//i.test(text);
}
