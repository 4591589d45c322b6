/** Certificates that this machine refuses, of the servers in the configuration. */
import { readConfig } from '../src/core/config.ts';
import { certificateCode, explainCertificate } from '../src/core/lib/certificate.ts';
import { readDatabaseUrl } from '../src/core/lib/database-url.ts';
import { AppError, unavailable } from '../src/core/lib/errors.ts';
import type { StorageConfig } from '../src/core/storage-config.ts';

const HTTPS_PORT = 443;

/** Returns 503 `certificate_refused` when the error is about a certificate of a server of this URL, else null. */
export async function refusedDatabase(error: unknown, url: string): Promise<AppError | null> {
  if (certificateCode(error) === null) return null;
  for (const { host, port } of readDatabaseUrl(url)) {
    const server = { name: 'Postgres', host, port, option: 'DATABASE_URL' } as const;
    const explained = await explainCertificate(error, server);
    if (explained !== null) return unavailable('certificate_refused', explained, { cause: error });
  }
  return null;
}

/** The same for an error of a command, about the store or else the database of its configuration. */
export async function refusedCertificate(error: unknown): Promise<AppError | null> {
  const code = error instanceof AppError ? error.code : null;
  // It names its server.
  if (certificateCode(error) === null || code === 'certificate_refused') return null;
  const { databaseUrl, storage } = readConfig();
  if (code !== 'store_unavailable') {
    return databaseUrl === undefined ? null : refusedDatabase(error, databaseUrl);
  }
  const explained = await explainStoreCertificate(error, storage);
  return explained === null
    ? null
    : unavailable('certificate_refused', explained, { cause: error });
}

/** Returns one line about the certificate of the object store when the error is about it, else null. */
export async function explainStoreCertificate(
  error: unknown,
  storage: StorageConfig,
): Promise<string | null> {
  if (storage.provider !== 's3' || storage.endpoint === null) return null;
  const { hostname: host, port } = new URL(storage.endpoint);
  const server = { name: 'the object store', host, port: Number(port || HTTPS_PORT) } as const;
  return explainCertificate(error, { ...server, option: 'S3_ENDPOINT' });
}
