/** The parameters that steer a page: how many, from where on, and what else is asked of it. */
import { badParameter, type RawParameter } from './parse-query.ts';

export interface PageRequest {
  limit: number;
  /** People to leave out at the beginning. */
  skip: number;
  /** From an earlier page; null for none. Read by `readCursor`. */
  cursor: string | null;
  /** Whether the answer tells how many people there are in all. */
  count: boolean;
  /** Whether a wallet that cannot pay all of the page may pay a part. */
  partial: boolean;
}

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

/** Reads the page parameters of a call, by name. Throws `AppError` 400 `invalid_parameter`. */
export function parsePage(page: ReadonlyMap<string, RawParameter>): PageRequest {
  const limit = readNumber(page.get('limit'), LIMIT_DEFAULT);
  if (limit < 1 || limit > LIMIT_MAX) {
    throw badParameter('limit', 1, `must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = page.get('cursor')?.value ?? null;
  if (cursor !== null && page.has('skip')) {
    throw badParameter('skip', 1, 'cannot stand beside `cursor`, which says where to begin');
  }
  return {
    limit,
    skip: readNumber(page.get('skip'), 0),
    cursor,
    count: readFlag(page.get('count')),
    partial: readFlag(page.get('partial')),
  };
}

function readNumber(parameter: RawParameter | undefined, absent: number): number {
  if (parameter === undefined) return absent;
  const number = /^\d+$/.test(parameter.value) ? Number(parameter.value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw badParameter(parameter.name, 1, 'must be a whole number from 0');
}

function readFlag(parameter: RawParameter | undefined): boolean {
  if (parameter === undefined || parameter.value === 'false') return false;
  if (parameter.value === 'true') return true;
  throw badParameter(parameter.name, 1, 'must be true or false');
}

/** A cursor: the last person of a page, and the search that it belongs to. */
export function spellCursor(lastId: number, filterSha256: Buffer): string {
  return Buffer.from(`${lastId}.${fingerprint(filterSha256)}`).toString('base64url');
}

/** The last person before the page. Throws `AppError` 400 for what is no cursor of this search. */
export function readCursor(cursor: string, filterSha256: Buffer): number {
  const [id = '', search, ...more] = Buffer.from(cursor, 'base64url').toString().split('.');
  const isCursor = /^\d{1,16}$/.test(id) && search !== undefined && more.length === 0;
  if (!isCursor || !Number.isSafeInteger(Number(id))) {
    throw badParameter('cursor', 1, 'is no cursor of this call');
  }
  if (search !== fingerprint(filterSha256)) {
    throw badParameter('cursor', 1, 'belongs to a search with another filter');
  }
  return Number(id);
}

function fingerprint(sha256: Buffer): string {
  return sha256.toString('base64url').slice(0, 12);
}
