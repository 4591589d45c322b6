/**
 * Reads chunked bodies (`Transfer-Encoding: chunked`) in turns. Node reads up to 2 MiB of a connection in each round of the event
 * loop, before its key is known, and calls back for each chunk: with one-byte chunks that takes a second of the thread.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { openShare } from '../../core/limits/shares.ts';
import { nextQuietRound } from '../../core/limits/thread-turns.ts';
import { networkOf } from './network-of.ts';

/** Time for which a connection may be parsed before it waits for a turn: some megabytes of large chunks. */
const PARSE_MS_MAX = 1;
/** Longer than a connection that waits for a turn may last. */
const WAIT_MS_MAX = 10 * 60_000;

const inTurn = openShare({
  name: 'readers of bodies',
  inFlightMax: 1,
  accountInFlightMax: 1,
  // Connections have limits of their own.
  accountWaitingMax: Number.POSITIVE_INFINITY,
  waitMsMax: WAIT_MS_MAX,
});

/** The chunked request that each connection is sending; null between two. */
const reading = new WeakMap<Socket, IncomingMessage | null>();

/**
 * Makes the connection of a request with a chunked body wait for a turn of its network after each millisecond of parsing, until
 * the body has been read: also after the response, when Node discards the rest.
 */
export function readInTurns(request: IncomingMessage): void {
  const { headers, socket } = request;
  if (headers['transfer-encoding'] === undefined) return;
  if (!reading.has(socket)) takeTurns(socket);
  reading.set(socket, request);
  request.once('close', () => {
    if (reading.get(socket) === request) reading.set(socket, null);
  });
}

function takeTurns(socket: Socket): void {
  const network = networkOf({ ip: socket.remoteAddress });
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const pause = socket.pause.bind(socket);
  const resume = socket.resume.bind(socket);
  let isResting = false;
  // Node pauses a connection while its body is not read, and resumes it.
  let isWanted = true;
  socket.pause = () => {
    isWanted = false;
    return pause();
  };
  socket.resume = () => {
    isWanted = true;
    return isResting ? socket : resume();
  };
  let readAt = 0;
  let parsedMs = 0;
  socket.prependListener('data', () => {
    readAt = performance.now();
  });
  // With a listener Node calls back for each read; this one runs after the bytes were parsed.
  socket.on('data', () => {
    const ms = parsedMs + performance.now() - readAt;
    const isLong = ms > PARSE_MS_MAX && reading.get(socket)?.complete === false;
    parsedMs = isLong ? 0 : ms;
    if (!isLong) return;
    isResting = true;
    pause();
    inTurn(network, gone.signal, () => leaveThread(ms)).then(
      () => {
        isResting = false;
        if (isWanted) resume();
      },
      () => socket.destroy(),
    );
  });
}

/** Resolves after the next quiet round, and when others have had the thread for as long as the parsing took. */
async function leaveThread(ms: number): Promise<void> {
  await nextQuietRound();
  await setTimeout(ms);
}
