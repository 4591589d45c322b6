/** Bounds the memory of heads that have not arrived in full. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of memory that each name and each value of a header takes beyond its characters. */
const TEXT_OVERHEAD = 50;

/** Share of the maximum that stays: closing more at once than is needed makes the search for them rare. */
const LEFT_SHARE = 7 / 8;

/** `HTTPParser.kOnHeaders`: the parser of Node calls this method for each 32 lines of a head that has not arrived in full. */
const ON_LINES = 1;

/** The lines that Node keeps with the parser of a connection until the head, or the trailers of a body, are complete. */
interface Parser {
  socket: Socket | null;
  _url: string;
  _headers: string[];
  [ON_LINES](texts: string[], url: string): void;
}

/** Functions to call when such a head has grown, of each connection of a server. */
const bounds = new WeakMap<Socket, (socket: Socket, parser: Parser, isFirst: boolean) => void>();

export function bytesOfHead(url: string, rawHeaders: readonly string[]): number {
  let bytes = url.length + TEXT_OVERHEAD;
  for (const text of rawHeaders) bytes += text.length + TEXT_OVERHEAD;
  return bytes;
}

/**
 * Closes connections when heads that have not arrived in full take more than `bytesMax`: those that began first, so no client
 * that sends its head at once. A timer would come too late: Node may parse thousands of heads between two timers. The last
 * lines, up to 32, are not in the heap yet and do not count.
 */
export function boundPartialHeads(server: Server, bytesMax: number): void {
  /** Bytes by connection, in the order in which the heads began. Some have become complete since. */
  const partial = new Map<Socket, number>();
  let sum = 0;
  const forget = (socket: Socket) => {
    sum -= partial.get(socket) ?? 0;
    partial.delete(socket);
  };
  const grow = (socket: Socket, parser: Parser, isFirst: boolean) => {
    const bytes = bytesOfHead(parser._url, parser._headers);
    if (isFirst) forget(socket);
    sum += bytes - (partial.get(socket) ?? 0);
    partial.set(socket, bytes);
    if (sum <= bytesMax) return;
    for (const one of partial.keys()) if (!parserOf(one)?._headers.length) forget(one);
    for (const one of partial.keys()) {
      if (sum <= bytesMax * LEFT_SHARE) break;
      forget(one);
      one.destroy();
      // The connection itself ends after the round of the event loop, which may bring thousands of heads.
      const parser = parserOf(one);
      if (parser) parser._headers = [];
    }
  };
  server.on('connection', (socket: Socket) => {
    const parser = parserOf(socket);
    if (parser == null) return;
    watchLines(parser);
    bounds.set(socket, grow);
    socket.once('close', () => forget(socket));
  });
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

let keepLines: Parser[typeof ON_LINES] | undefined;

/** Node uses a parser for one connection after another, also for those of clients: the method finds out for which. */
function watchLines(parser: Parser): void {
  if (parser[ON_LINES] === onLines) return;
  keepLines = parser[ON_LINES];
  parser[ON_LINES] = onLines;
}

function onLines(this: Parser, texts: string[], url: string): void {
  const isFirst = this._headers.length === 0;
  keepLines?.call(this, texts, url);
  const { socket } = this;
  if (socket !== null) bounds.get(socket)?.(socket, this, isFirst);
}
