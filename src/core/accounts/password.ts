/**
 * Stored passwords: scrypt (RFC 7914) with its parameters next to the hash, so that they can be raised later. The
 * parameters are one of the choices that OWASP's Password Storage Cheat Sheet calls equal.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type AppError, invalidParameter } from '../lib/errors.ts';
import { toNormalForm } from '../lib/normal-form.ts';

const PASSWORD_CHARACTERS_MIN = 12;
const PASSWORD_CHARACTERS_MAX = 1000;

const COST = 2 ** 15;
const BLOCK_SIZE = 8;
const PARALLEL = 3;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
/** 15 random bytes are 20 characters of base64url: infeasible to guess. */
const GENERATED_BYTES = 15;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

export function generatePassword(): string {
  return randomBytes(GENERATED_BYTES).toString('base64url');
}

/** Hashes a password for storage. Throws `AppError` 400 for one that is too short or too long. */
export async function hashPassword(password: string): Promise<string> {
  const { length } = password;
  if (length < PASSWORD_CHARACTERS_MIN || length > PASSWORD_CHARACTERS_MAX) throw badLength();
  const salt = randomBytes(SALT_BYTES);
  const parameters = { cost: COST, blockSize: BLOCK_SIZE, parallel: PARALLEL };
  const hash = await hashWith(password, salt, HASH_BYTES, parameters);
  return [
    'scrypt',
    COST,
    BLOCK_SIZE,
    PARALLEL,
    salt.toString('base64'),
    hash.toString('base64'),
  ].join('$');
}

/**
 * Returns true when the password matches the stored hash. For an unknown account (null) it takes equally long and
 * returns false: response times do not reveal which addresses have an account.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, cost, blockSize, parallel, salt = '', hash = ''] = (stored ?? unknownAccountHash).split(
    '$',
  );
  const expected = Buffer.from(hash, 'base64');
  const parameters = {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
  };
  const actual = await hashWith(password, Buffer.from(salt, 'base64'), expected.length, parameters);
  return timingSafeEqual(actual, expected) && stored !== null;
}

/** The hash that a password is compared with when the account has none. */
const unknownAccountHash = [
  'scrypt',
  COST,
  BLOCK_SIZE,
  PARALLEL,
  randomBytes(SALT_BYTES).toString('base64'),
  randomBytes(HASH_BYTES).toString('base64'),
].join('$');

interface Parameters {
  cost: number;
  blockSize: number;
  parallel: number;
}

/** Different encodings of the same characters are one password: NFKC, as NIST SP 800-63B requires. */
function hashWith(
  password: string,
  salt: Buffer,
  bytes: number,
  { cost, blockSize, parallel }: Parameters,
): Promise<Buffer> {
  const maxmem = 2 * 128 * cost * blockSize;
  const options = { cost, blockSize, parallelization: parallel, maxmem };
  return derive(toNormalForm(password, 'NFKC'), salt, bytes, options);
}

function badLength(): AppError {
  const message = `must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`;
  return invalidParameter('password', message);
}
