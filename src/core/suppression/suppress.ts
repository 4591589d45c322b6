/** Opt-outs: a person is found by an identifier and never served again. */
import { createHash } from 'node:crypto';
import type { Sql } from '../db/client.ts';
import { type PersonIdentifierKind, personCodes } from '../graph/identifier-kinds.ts';
import { personKeyOf } from '../graph/person-key.ts';
import { writeGraph } from '../graph/write-graph.ts';
import { identifierKinds, kindNames, normaliseIdentifier } from '../identifiers/identifier.ts';
import { AppError } from '../lib/errors.ts';
import {
  findRecordedHashes,
  findSuppressed,
  insertHashes,
  insertSuppressedPeople,
  insertSuppression,
  suppressAgain,
  suppressJoined,
  suppressNamed,
} from './suppression.sql.ts';

/**
 * Returns the identifier that a text is, in canonical form; null for any other text, and `several` for a text of more than one.
 */
function identifierIn(text: string): PersonIdentifier | 'several' | null {
  const kind = kindNames.find((candidate) => identifierKinds[candidate].person?.optOut.test(text));
  if (kind === undefined) return null;
  const normalised = normaliseIdentifier(kind, text, { subject: 'person' });
  if ('reason' in normalised) return null;
  const [value, ...others] = normalised.values;
  // Another reading of the same address is its end: records are stored under the whole one.
  if (!others.every((other) => value.endsWith(other))) return 'several';
  return { kind: kind as PersonIdentifierKind, value };
}

/** Returns the stored codes of a person's identifiers of a kind; a former handle still identifies them. */
export function personCodesOf(kind: PersonIdentifierKind): number[] {
  return personCodes.filter((one) => one.kind === kind).map(({ code }) => code);
}

/** The codes of what a hash of the value alone stands for: an email or a phone. */
export const bareCodes: readonly number[] = [...personCodesOf('email'), ...personCodesOf('phone')];

/** An identifier of a person in canonical form. */
export interface PersonIdentifier {
  kind: PersonIdentifierKind;
  value: string;
}

/** Returns the hash that is stored for an identifier of a person: of `<kind>:<canonical value>`. */
function suppressionHash({ kind, value }: PersonIdentifier): Buffer {
  return createHash('sha256').update(`${kind}:${value}`).digest();
}

/**
 * Parses an identifier as the person gave it. Throws `AppError` `invalid_parameter` for any other text, and for several
 * identifiers.
 */
export function readPersonIdentifier(text: string): PersonIdentifier {
  const identifier = identifierIn(text);
  if (identifier === null) throw invalid(`\`${text}\` is not ${OPT_OUT_NAMES}.`);
  if (identifier === 'several') {
    throw invalid(`\`${text}\` has several identifiers. Give them one at a time.`);
  }
  return identifier;
}

/** `an email address, a profile URL or an @handle`. */
const OPT_OUT_NAMES = kindNames
  .flatMap((kind) => identifierKinds[kind].person?.optOutName ?? [])
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ');

/**
 * Suppresses the people who hold the identifier, now or after a later import. Returns how many stored people it
 * reached. Throws `AppError` `invalid_parameter` for a text that is not an identifier.
 */
export async function suppress(sql: Sql, identifier: string): Promise<{ persons: number }> {
  const read = readPersonIdentifier(identifier);
  const persons = await writeGraph(sql, (tx) =>
    insertSuppression(tx, {
      hash: suppressionHash(read),
      value: read.value,
      codes: personCodesOf(read.kind),
      sourceKey: personKeyOf(read),
    }),
  );
  return { persons };
}

/**
 * Suppresses the people who hold one of these identifiers, like `suppress`, unless that is recorded already. Texts
 * that are not one identifier are skipped: a source may have left the phone of an opt-out unreadable.
 */
export async function suppressOnce(sql: Sql, identifiers: readonly string[]): Promise<void> {
  for (const text of new Set(identifiers)) {
    const identifier = identifierIn(text);
    if (identifier === null || identifier === 'several') continue;
    if (await isOptedOut(sql, identifier)) continue;
    await suppress(sql, text);
  }
}

/**
 * Suppresses the people who hold an email or phone of which only the hash is known, now or after a later import.
 * `lines` are SHA-256 hashes in hexadecimal of the canonical values (a lower-case email, a phone in E.164 with
 * its plus), one per line; blank lines are skipped. Throws `AppError` `invalid_parameter` naming the first invalid
 * line, and then changes nothing.
 */
export async function suppressHashes(
  sql: Sql,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<{ hashes: number; persons: number }> {
  const hashes: Buffer[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    const text = line.trim();
    if (text === '') continue;
    if (!/^[0-9a-f]{64}$/i.test(text)) {
      throw invalid(`Line ${number} is not a SHA-256 hash. It must have 64 hexadecimal digits.`);
    }
    hashes.push(Buffer.from(text, 'hex'));
  }
  const persons = await writeGraph(sql, (tx) => insertHashes(tx, hashes, bareCodes));
  return { hashes: hashes.length, persons };
}

/**
 * Suppresses people by id, and people imported later with one of the identifiers, or with one of which only the hash is known:
 * of an email or phone that of the value, of others that of an opt-out.
 */
export async function suppressPeople(
  sql: Sql,
  ids: readonly number[],
  identifiers: readonly PersonIdentifier[],
  moreHashes: readonly Buffer[] = [],
): Promise<void> {
  const hashes = [...identifiers.map(suppressionHash), ...moreHashes];
  await writeGraph(sql, (tx) => insertSuppressedPeople(tx, ids, hashes));
}

/**
 * Suppresses those of these people, who were built from records of sources, of whom a source has an opted-out identifier, or
 * whose records are joined with those of a person who opted out; and the people `hidden`, some of whose records were. Call it
 * under the lock of the graph's writers.
 */
export async function suppressBuilt(
  tx: Sql,
  ids: readonly number[],
  hidden: readonly number[],
): Promise<void> {
  if (hidden.length > 0) await insertSuppressedPeople(tx, hidden, []);
  await suppressNamed(tx, ids);
  await suppressJoined(tx, ids);
}

/**
 * Hides the officers that, by name and birth, are those of these people who opted out. Call it before the people are deleted,
 * because afterwards an office cannot be attributed, and under the lock of the graph's writers.
 */
export function suppressLeaving(tx: Sql, ids: readonly number[]): Promise<void> {
  return suppressAgain(tx, ids);
}

/** Returns true when one of these people opted out of the graph that `sql` sees. */
export async function isAnySuppressed(sql: Sql, personIds: readonly number[]): Promise<boolean> {
  return personIds.length > 0 && (await findSuppressed(sql, personIds)).length > 0;
}

/** Returns true when an opt-out by this identifier is recorded, by itself or in a list of hashes. */
export async function isOptedOut(sql: Sql, identifier: PersonIdentifier): Promise<boolean> {
  const bare = createHash('sha256').update(identifier.value).digest();
  const found = await findRecordedHashes(sql, [suppressionHash(identifier), bare]);
  return found.length > 0;
}

function invalid(message: string): AppError {
  return new AppError({ code: 'invalid_parameter', status: 400, message });
}
