/** A private Redis server on loopback, with settings that the service accepts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Running servers; they end with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

/**
 * Starts `redis-server` on this port with its files in this folder; resolves when it accepts connections.
 * `settings` are command-line arguments. It ends with this process.
 */
export async function launchRedis(
  port: number,
  folder: string,
  settings: readonly string[],
): Promise<ChildProcess> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings];
  const server = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(server);
  server.once('exit', () => running.delete(server));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)));
  });
  return server;
}

/** Kills a server at once; unsaved data is lost. */
export async function endRedis(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
