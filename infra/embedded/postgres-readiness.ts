/** Checks whether a starting server is ready, in its own protocol. */
import postgres from 'postgres';
import { unavailable } from '../../src/core/lib/errors.ts';
import { CREDENTIALS_FILE_NAME } from './postgres-credentials.ts';

/** Errors of a server that does not listen yet, or listens but is still starting or recovering (57P03). */
const notYetCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  '57P03',
]);

/**
 * Returns true when a query succeeds; false when the server is not ready yet, or another one, on a copy of the
 * folder with the same password, has taken the port. Throws `AppError` when it responds but refuses the password.
 */
export async function askServer(server: {
  port: number;
  role: string;
  password: string;
  dataFolder: string;
}): Promise<boolean> {
  const client = postgres({
    host: '127.0.0.1',
    port: server.port,
    user: server.role,
    password: server.password,
    database: 'postgres',
    max: 1,
    connect_timeout: 10,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
  });
  try {
    const [answer] = await client`select current_setting('data_directory') as folder`;
    return answer?.folder === server.dataFolder;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== undefined && notYetCodes.has(code)) return false;
    if (code !== '28P01') throw error;
    throw unavailable(
      'embedded_postgres_failed',
      `The password in ${CREDENTIALS_FILE_NAME} is not the database's. Move that file away and ` +
        'start again: a new password is then set.',
      { cause: error },
    );
  } finally {
    await client.end({ timeout: 0 });
  }
}
