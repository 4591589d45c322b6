/** Runs programs of the measurements in separate processes. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { environmentWith } from '../src/core/config.ts';
import { SUPERVISED } from '../workers/process-life.ts';
import type { Reply } from './answer-parent.ts';
import { freePort } from './servers/free-port.ts';

export interface Child extends AsyncDisposable {
  pid: number;
  /** The URL that it reported when ready. */
  url: string;
}

/** As `workers/process-life.ts` sends it. */
type Started = { ready: { url: string } } | { failed: string };

type Environment = Parameters<typeof environmentWith>[0];

/** Starts a compiled module, by its path under `dist`, that notifies its parent when ready. */
export async function startChild(module: string, environment: Environment): Promise<Child> {
  const child = forkModule(module, environment, [SUPERVISED]);
  const message = (await firstMessage(child, module)) as Started;
  if ('failed' in message) throw new Error(`${module}: ${message.failed}`);
  // An API answers once its parent can say where it is.
  child.send('known');
  const { url } = message.ready;
  return { pid: child.pid ?? 0, url, [Symbol.asyncDispose]: () => end(child) };
}

/** Starts a compiled module, gives it a message and waits for its answer. */
export async function askChild<Answer>(module: string, question: object): Promise<Answer> {
  const child = forkModule(module, {});
  child.send(question);
  const ended = once(child, 'exit');
  const answer = await firstMessage(child, module);
  await ended;
  return answer as Answer;
}

/** A process that answers questions for as long as it is needed. */
export interface Servant extends AsyncDisposable {
  pid: number;
  /** One request at a time. Throws the error that the process reports. */
  ask<Answer>(question: unknown): Promise<Answer>;
}

/** Starts a compiled module that calls `answerParent`, with arguments and a working folder. */
export function startServant(
  module: string,
  environment: Environment,
  { words = [], folder }: { words?: readonly string[]; folder?: string } = {},
): Servant {
  const child = forkModule(module, environment, words, folder);
  return {
    pid: child.pid ?? 0,
    async ask<Answer>(question: unknown) {
      child.send(question as object);
      const reply = (await firstMessage(child, module)) as Reply<Answer>;
      if ('error' in reply) throw new Error(`${module}: ${reply.error}`);
      return reply.answer;
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

/** Starts a Redis without persistence, or null when none is installed. */
export async function startRedis(): Promise<Child | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-bench-redis-'));
  const port = String(await freePort());
  const words = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true });
  };
  const isReady = await Promise.race([
    untilSaid(child, 'Ready to accept connections'),
    once(child, 'exit').then(() => false),
    once(child, 'error').then(() => false),
  ]);
  if (!isReady) {
    await rm(folder, { recursive: true });
    return null;
  }
  return { pid: child.pid ?? 0, url: `redis://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

function forkModule(
  module: string,
  environment: Environment,
  words: readonly string[] = [],
  folder?: string,
): ChildProcess {
  const file = path.join(import.meta.dirname, '..', module);
  const env = environmentWith(environment);
  return fork(file, words, {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
}

async function firstMessage(child: ChildProcess, module: string): Promise<unknown> {
  // Every request leaves a listener for the exit behind; a servant answers many.
  child.setMaxListeners(0);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${module} ended with code ${code} before it answered`);
  });
  // When the answer comes first, the exit that follows is not a failure.
  ended.catch(() => {});
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  return message;
}

async function untilSaid(child: ChildProcess, words: string): Promise<boolean> {
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    if (said.includes(words)) return true;
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
