/** Asks a starting server whether it is ready, in its own protocol. */
import postgres from 'postgres';
import { AppError } from '../../src/core/lib/errors.ts';
import { credentialsFileName } from './postgres-credentials.ts';

/** Errors of a server that listens not yet, or listens but still starts or recovers (57P03). */
const notYetCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  '57P03',
]);

/**
 * True once a query was answered; false when the server is not that far, or when another one, on a copy of the folder with the same
 * password, has taken the port before it. Throws AppError when it answers but refuses the password.
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
    throw new AppError({
      code: 'embedded_postgres_failed',
      status: 503,
      message:
        `The password in ${credentialsFileName} is not the database's. Move that file away and ` +
        'start again: a new password is then set.',
      cause: error,
    });
  } finally {
    await client.end({ timeout: 0 });
  }
}
