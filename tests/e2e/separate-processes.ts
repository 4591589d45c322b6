/** The processes of the production stack, started separately: `enrich api` and `enrich worker`. */
import { freePort } from '../../bench/servers/free-port.ts';
import type { OptionTexts } from '../../src/core/config.ts';
import { type Command, startCommand } from './processes.ts';
import { waitFor } from './wait-for.ts';

const READY_MS_MAX = 60_000;
/** A process exits within 30 s of a stop. */
const END_MS_MAX = 35_000;

export interface SeparateProcess extends AsyncDisposable {
  command: Command;
  /** Stops it; resolves with its exit code and the seconds that it took. */
  stop(): Promise<{ code: number | null; seconds: number }>;
}

export interface ApiProcess extends SeparateProcess {
  url: string;
}

/** Starts `enrich worker`. */
export function startWorker(options: OptionTexts): SeparateProcess {
  return separate(startCommand(['worker'], options));
}

/** Starts `enrich api` on a free port; resolves once it is ready for traffic. */
export async function startApi(options: OptionTexts, start = startCommand): Promise<ApiProcess> {
  const port = String(await freePort());
  const api = separate(start(['api'], { ...options, port }));
  const url = `http://127.0.0.1:${port}`;
  await waitFor('the api is ready', READY_MS_MAX, async () => {
    const { exitCode } = api.command.child;
    if (exitCode !== null) throw new Error(`the api ended: ${api.command.stderr}`);
    const answer = await fetch(new URL('/readyz', url)).catch(() => undefined);
    return answer?.status === 200;
  });
  return { ...api, url };
}

function separate(command: Command): SeparateProcess {
  const stop = async () => {
    const asked = performance.now();
    command.child.kill('SIGTERM');
    const killer = setTimeout(() => command.child.kill('SIGKILL'), END_MS_MAX);
    const code = await command.ended;
    clearTimeout(killer);
    return { code, seconds: (performance.now() - asked) / 1000 };
  };
  return { command, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}
