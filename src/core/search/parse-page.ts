/** The parameters of a page: its size, its start, and what else is requested. */
import { z } from 'zod';
import { FIELDS_MAX } from '../operations.ts';
import { badParameter, type RawParameter } from './parse-query.ts';

/** Orders of pages. Each ends with the id, so that every person has one place in it. */
export const sortNames = ['id', 'whenUpdated', 'createdAt', 'surname'] as const;

export interface PageOrder {
  by: (typeof sortNames)[number];
  descending: boolean;
}

export const defaultOrder: PageOrder = { by: 'id', descending: false };

/** A person's place in an order: the text of the value that it orders by (null for the id), and the id. */
export interface Place {
  id: number;
  key: string | null;
}

export interface PageRequest {
  limit: number;
  /** Number of people to skip at the beginning. */
  skip: number;
  /** Cursor of an earlier page; null for none. Parsed by `readCursor`. */
  cursor: string | null;
  order: PageOrder;
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
    order: readOrder(page.get('sort')),
    count: readFlag(page.get('count')),
    partial: readFlag(page.get('partial')),
    fields: readFields(page.get('fields')),
  };
}

function readFields(parameter: RawParameter | undefined): string[] | null {
  if (parameter === undefined) return null;
  const names = parameter.value.split(',');
  if (names.length > FIELDS_MAX) {
    throw badParameter('fields', 1, `must have at most ${FIELDS_MAX} items`);
  }
  return [...new Set(names.map((name) => name.trim()))];
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

/** Parses `sort`: a name, or one after a minus for the opposite order. */
function readOrder(parameter: RawParameter | undefined): PageOrder {
  if (parameter === undefined) return defaultOrder;
  const descending = parameter.value.startsWith('-');
  const name = parameter.value.slice(descending ? 1 : 0);
  const by = sortNames.find((known) => known === name);
  if (by !== undefined) return { by, descending };
  const message = `must be one of ${sortNames.join(', ')}, with a minus before it for the opposite order`;
  throw badParameter('sort', 1, message);
}

/** Encodes a cursor: the place of the last person of a page, and the search that it belongs to. */
export function encodeCursor({ id, key }: Place, searchSha256: Buffer): string {
  const cursor = Buffer.from(`${fingerprint(searchSha256)}.${id}`).toString('base64url');
  return key === null ? cursor : withKey(cursor, key);
}

/** Returns the cursor with the key of its place, which `encodeCursor` was not given. */
export function withKey(cursor: string, key: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  return Buffer.from(`${place}.${Buffer.from(key).toString('base64url')}`).toString('base64url');
}

/**
 * Returns the place before the page. Throws `AppError` 400 for a text that is not a cursor of this search, and for the place of
 * a person who has withdrawn, which has no key.
 */
export function readCursor(cursor: string, searchSha256: Buffer, { by }: PageOrder): Place {
  const [search, id = '', key, ...more] = Buffer.from(cursor, 'base64url').toString().split('.');
  const isCursor = /^\d{1,16}$/.test(id) && more.length === 0;
  if (!isCursor || !Number.isSafeInteger(Number(id))) {
    throw badParameter('cursor', 1, 'is not a cursor of this call');
  }
  if (search !== fingerprint(searchSha256)) {
    throw badParameter('cursor', 1, 'belongs to a search with another filter or order');
  }
  if (key === undefined && by !== 'id') {
    const message =
      'is the place of a person who is no longer served. Search again from the first page';
    throw badParameter('cursor', 1, message);
  }
  const text = key === undefined ? null : Buffer.from(key, 'base64url').toString();
  if (text !== null && !isKeyOf[by](text)) {
    throw badParameter('cursor', 1, 'is not a cursor of this call');
  }
  return { id: Number(id), key: text };
}

const localTime = z.iso.datetime({ local: true });

/** True for a time as Postgres writes it. It has no year 0. */
function isTime(text: string): boolean {
  return !text.startsWith('0000') && localTime.safeParse(text.replace(' ', 'T')).success;
}

/** Postgres stores no NUL. */
function isText(text: string): boolean {
  return !text.includes('\0');
}

/** True for a text that may be the key of a place: the statement reads it as the type of the column. */
const isKeyOf: Record<PageOrder['by'], (text: string) => boolean> = {
  id: isText,
  whenUpdated: isTime,
  createdAt: isTime,
  surname: isText,
};

function fingerprint(sha256: Buffer): string {
  return sha256.toString('base64url').slice(0, 12);
}
