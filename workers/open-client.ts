import { type Client, createClient } from '../src/client/client.ts';
import type { Config } from '../src/core/config.ts';
import { parseKey } from '../src/core/keys/key-format.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { findServiceUrl } from './find-service.ts';

/** Returns the client of the configured service and key. Throws `AppError` 400 `usage` without a key, or for a text that is none. */
export async function openClient(config: Config): Promise<Client> {
  if (config.apiKey === undefined) {
    throw usage('ENRICH_API_KEY is not set. Create a key with `enrich key create`.');
  }
  if (parseKey(config.apiKey) === null) {
    throw usage(
      'ENRICH_API_KEY is not a key. It is one word, as `enrich key create` prints it; perhaps something was lost or added.',
    );
  }
  return createClient(await findServiceUrl(config), config.apiKey);
}

function usage(message: string): AppError {
  return new AppError({ code: 'usage', status: 400, message });
}
