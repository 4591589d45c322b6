/**
 * Do-not-contact lists of accounts. Addresses are stored as hashes only: a reader of the database learns nothing
 * about the people listed.
 */
import { createHash } from 'node:crypto';
import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';
import { toAsciiHost } from '../identifiers/domain.ts';
import { normaliseIdentifier } from '../identifiers/identifier.ts';
import { AppError, conflict, type ErrorDetail } from '../lib/errors.ts';
import { type ThreadUser, takeThreadTurn } from '../limits/thread-turns.ts';
import { countContacts, insertContacts, type ListedContacts } from './do-not-contact.sql.ts';

/** The entries as the caller writes them. */
export interface WrittenContacts {
  emails: string[];
  domains: string[];
  email_sha256: string[];
}

/** More than the customers of any one company; such a list takes about 200 MB. */
const ENTRIES_MAX = 1_000_000;
/** Entries of a turn: a Unicode domain takes a quarter of a millisecond. */
const ENTRIES_PER_TURN = 20;
/** Maximum number of wrong entries named in an error. */
const ERRORS_MAX = 20;

/**
 * Parses a list: addresses in any spelling, domains as after the `@` of an address, hashes as 64 hexadecimal
 * digits of the SHA-256 of a lower-case address. Throws `AppError` 400 that names the invalid entries; then no
 * entry is used. A long list is read in the account’s turns; throws as `takeThreadTurn`.
 */
export async function readContacts(
  written: WrittenContacts,
  user: ThreadUser,
): Promise<ListedContacts> {
  const errors: ErrorDetail[] = [];
  const collect = async <T>(
    field: keyof WrittenContacts,
    read: (text: string) => T | null,
  ): Promise<T[]> => {
    const values: T[] = [];
    for (const [index, text] of written[field].entries()) {
      if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await takeThreadTurn(user);
      const value = read(text);
      if (value === null) errors.push({ field: `${field}.${index}`, message: messages[field] });
      else values.push(value);
    }
    return values;
  };
  const hashed = (await collect('emails', hashEmails)).flat();
  const domains = await collect('domains', readDomain);
  const given = await collect('email_sha256', readHash);
  if (errors.length === 0) return { emailHashes: [...hashed, ...given], domains };
  throw new AppError({
    code: 'invalid_parameter',
    status: 400,
    message: `${errors.length} entries are not valid; the first is ${errors[0]?.field}.`,
    errors: errors.slice(0, ERRORS_MAX),
  });
}

/**
 * Adds entries that are not listed yet, and returns how many were added. Call it in a transaction: changes of one
 * list are serialised, so the maximum is exact. Throws `AppError` 409 `too_many_entries` when the list would
 * exceed it.
 */
export async function addContacts(
  tx: Sql,
  owner: Owner,
  contacts: ListedContacts,
): Promise<number> {
  const added = await insertContacts(tx, owner, contacts);
  if (added > 0 && (await countContacts(tx, owner)) > ENTRIES_MAX) throw tooManyEntries();
  return added;
}

function tooManyEntries(): AppError {
  return conflict(
    'too_many_entries',
    `A do-not-contact list may hold at most ${ENTRIES_MAX} entries. These would exceed it, so none was added. Remove some (\`DELETE /v1/do-not-contact\`), or list a domain instead of its addresses.`,
    { extensions: { entries_max: ENTRIES_MAX } },
  );
}

const messages: Record<keyof WrittenContacts, string> = {
  emails: 'is not an email address',
  domains: 'is not a domain such as acme.example',
  email_sha256: 'must be 64 hexadecimal digits',
};

/** Hashes of all addresses of an entry, as texts: a buffer for each takes half a kilobyte. */
function hashEmails(text: string): string[] | null {
  const normalised = normaliseIdentifier('email', text, { subject: 'person' });
  if ('reason' in normalised) return null;
  return normalised.values.map((address) => createHash('sha256').update(address).digest('hex'));
}

function readDomain(text: string): string | null {
  return toAsciiHost(text.trim().replace(/^@/, ''));
}

function readHash(text: string): string | null {
  return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null;
}
