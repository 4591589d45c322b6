/** The parameters of a page: its size, its start, and what else is requested. */
import { badParameter, type RawParameter } from './parse-query.ts';

export interface PageRequest {
  limit: number;
  /** Number of people to skip at the beginning. */
  skip: number;
  /** Cursor of an earlier page; null for none. Parsed by `readCursor`. */
  cursor: string | null;
  /** True when the response includes the total number of people. */
  count: boolean;
  /** True when a wallet that cannot pay the whole page may pay a part. */
  partial: boolean;
  /** Fields of each person, checked by `outputColumns`; null for all. */
  fields: string[] | null;
}

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

/** Parses the page parameters of a call, by name. Throws `AppError` 400 `invalid_parameter`. */
export function parsePage(page: ReadonlyMap<string, RawParameter>): PageRequest {
  const limit = readNumber(page.get('limit'), LIMIT_DEFAULT);
  if (limit < 1 || limit > LIMIT_MAX) {
    throw badParameter('limit', 1, `must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = page.get('cursor')?.value ?? null;
  if (cursor !== null && page.has('skip')) {
    throw badParameter('skip', 1, 'cannot be combined with `cursor`, which sets where to begin');
  }
  return {
    limit,
    skip: readNumber(page.get('skip'), 0),
    cursor,
    count: readFlag(page.get('count')),
    partial: readFlag(page.get('partial')),
    fields:
      page
        .get('fields')
        ?.value.split(',')
        .map((name) => name.trim()) ?? null,
  };
}

function readNumber(parameter: RawParameter | undefined, absent: number): number {
  if (parameter === undefined) return absent;
  const number = /^\d+$/.test(parameter.value) ? Number(parameter.value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw badParameter(parameter.name, 1, 'must be a whole number, 0 or greater');
}

function readFlag(parameter: RawParameter | undefined): boolean {
  if (parameter === undefined || parameter.value === 'false') return false;
  if (parameter.value === 'true') return true;
  throw badParameter(parameter.name, 1, 'must be true or false');
}

/** Encodes a cursor: the last person of a page, and the search that it belongs to. */
export function encodeCursor(lastId: number, filterSha256: Buffer): string {
  return Buffer.from(`${lastId}.${fingerprint(filterSha256)}`).toString('base64url');
}

/**
 * Returns the last person before the page. Throws `AppError` 400 for a text that is not a cursor of this search.
 */
export function readCursor(cursor: string, filterSha256: Buffer): number {
  const [id = '', search, ...more] = Buffer.from(cursor, 'base64url').toString().split('.');
  const isCursor = /^\d{1,16}$/.test(id) && search !== undefined && more.length === 0;
  if (!isCursor || !Number.isSafeInteger(Number(id))) {
    throw badParameter('cursor', 1, 'is not a cursor of this call');
  }
  if (search !== fingerprint(filterSha256)) {
    throw badParameter('cursor', 1, 'belongs to a search with another filter');
  }
  return Number(id);
}

function fingerprint(sha256: Buffer): string {
  return sha256.toString('base64url').slice(0, 12);
}
