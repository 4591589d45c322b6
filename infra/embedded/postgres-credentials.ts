/** Credentials that are kept between starts, in one file that only its owner can read. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const credentialsSchema = z.object({
  /** Of the superuser: 32 random bytes in base64url, so it needs no escaping in a URL. */
  password: z.string().min(1),
  /** Of the service's role. */
  servicePassword: z.string().min(1),
  /** The port of the last start, reused while it is free; null before the first start. */
  port: z.int().min(1).max(65_535).nullable(),
  /** Absolute folder of the cluster when it could not be `<dataDir>/postgres`, otherwise null. */
  dataFolder: z.string().nullable(),
});

export type PostgresCredentials = z.infer<typeof credentialsSchema>;

export const CREDENTIALS_FILE_NAME = 'postgres-credentials.json';

/** Reads the credentials; null when the folder has none yet. */
export async function readCredentials(dataDir: string): Promise<PostgresCredentials | null> {
  try {
    const text = await readFile(path.join(dataDir, CREDENTIALS_FILE_NAME), 'utf8');
    return credentialsSchema.parse(JSON.parse(text));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the file atomically, so that a crash leaves the old one or the new one. */
export async function writeCredentials(
  dataDir: string,
  credentials: PostgresCredentials,
): Promise<void> {
  const file = path.join(dataDir, CREDENTIALS_FILE_NAME);
  const fresh = `${file}.${randomUUID()}`;
  const text = `${JSON.stringify(credentials, null, 2)}\n`;
  // On a full disk a start that changes nothing must not fail for lack of room.
  if ((await readFile(file, 'utf8').catch(() => null)) === text) return;
  try {
    await writeFile(fresh, text, { mode: 0o600, flush: true });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

export function createPassword(): string {
  return randomBytes(32).toString('base64url');
}
