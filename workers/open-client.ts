import { type Client, createClient } from '../src/client/client.ts';
import type { Config } from '../src/core/config.ts';
import { parseKey } from '../src/core/keys/key-format.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { findServiceUrl } from './find-service.ts';

/**
 * Returns the client of the configured service and key. Throws `AppError` 400 `usage` without a key, and 401 `invalid_key`
 * for a text that is not a key, which is neither sent nor repeated.
 */
export async function openClient(config: Config): Promise<Client> {
  if (config.apiKey === undefined) {
    throw new AppError({
      code: 'usage',
      status: 400,
      message: 'ENRICH_API_KEY is not set. Create a key with `enrich key create`.',
    });
  }
  const url = await findServiceUrl(config);
  if (parseKey(config.apiKey) === null) {
    throw new AppError({
      code: 'invalid_key',
      status: 401,
      message:
        'ENRICH_API_KEY is not a key. A key is one word, as `enrich key create` prints it: check that it was copied whole.',
    });
  }
  return createClient(url, config.apiKey);
}
