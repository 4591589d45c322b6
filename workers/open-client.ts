import { type Client, createClient } from '../src/client/client.ts';
import type { Config } from '../src/core/config.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { findServiceUrl } from './find-service.ts';

/** The client of the configured service and key. Throws `AppError` for the lack of one. */
export async function openClient(config: Config): Promise<Client> {
  if (config.apiKey === undefined) {
    throw new AppError({
      code: 'usage',
      status: 400,
      message: 'ENRICH_API_KEY is not set. Create a key with `enrich key create`.',
    });
  }
  return createClient(await findServiceUrl(config), config.apiKey);
}
