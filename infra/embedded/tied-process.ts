/**
 * Starts programs that end when this process ends, even by kill -9; for the server that is a fast shutdown
 * (SIGINT). There are two ties, because no single one works everywhere:
 * - `signal`: Linux sends the signal itself when the parent dies (prctl PR_SET_PDEATHSIG, through setpriv). The
 *   parent is the spawning thread: call it from the main thread.
 * - `pipe`: a small shell reads a pipe whose other end only this process holds, and sends the signal when it reads
 *   the end of file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { type ServerUser, succeedsAs } from './unprivileged-user.ts';

export interface Launcher {
  user: ServerUser;
  tie: 'signal' | 'pipe';
}

// A clean environment: no secret reaches the server's environment, no LD_LIBRARY_PATH replaces its libraries, no
// locale or time zone of the machine changes its behaviour.
const EXEC_CLEAN = 'exec env -i LC_ALL=C TZ=UTC "$@"';

// If the parent died before the tie was made, the signal would never come: the shell then has another parent
// already.
const signalScript = `[ "$PPID" = "$1" ] || exit 1; shift; ${EXEC_CLEAN}`;

// `$$` is the pid that the program keeps through exec. The reader is a grandchild, because a server restarts
// itself when an unknown child fails. A line means that the program ended first, so that its pid may have been
// reused.
const pipeScript = `( ( read -r ended <&3 || kill -INT $$ ) >/dev/null 2>&1 & ); exec 3<&-
${EXEC_CLEAN}`;

/** Determines which tie works for programs of this user. */
export async function createLauncher(user: ServerUser): Promise<Launcher> {
  const works = await succeedsAs(user, ['setpriv', '--pdeathsig', 'INT', 'true']);
  return { user, tie: works ? 'signal' : 'pipe' };
}

/**
 * Spawns the command, a program by its absolute path and its arguments; the child's pid is the program's own. The
 * caller reads both its outputs.
 */
export function spawnTied({ user, tie }: Launcher, command: readonly string[]): ChildProcess {
  const tied =
    tie === 'signal'
      ? ['setpriv', '--pdeathsig', 'INT', 'sh', '-c', signalScript, 'sh', String(process.pid)]
      : ['sh', '-c', pipeScript, 'sh'];
  const [program = '', ...words] = [...user.prefix, ...tied, ...command];
  const child = spawn(program, words, {
    // The caller's folder may be one that the user cannot enter.
    cwd: '/',
    // Its own process group: Ctrl-C in a terminal must not stop the server before its clients.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(tie === 'pipe' ? (['pipe'] as const) : [])],
    ...user.ids,
  });
  const tieEnd = child.stdio[3] as Writable | null | undefined;
  tieEnd?.on('error', ignoreClosedPipe);
  child.once('exit', () => tieEnd?.end('\n'));
  return child;
}

/** Runs the command to its end; returns both its outputs as one text, and null as code after a signal. */
export async function runTied(
  launcher: Launcher,
  command: readonly string[],
  input = '',
): Promise<{ code: number | null; output: string }> {
  const child = spawnTied(launcher, command);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.stdin?.on('error', ignoreClosedPipe).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** The program may end without reading its input; its exit code reports the result. */
function ignoreClosedPipe(): void {}
