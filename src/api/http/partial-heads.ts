/** Bounds the memory of heads, and of trailers, that have not arrived in full. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of memory that each name and each value of a header takes beyond its characters. */
const TEXT_OVERHEAD = 50;

/** Share of the maximum that stays: closing more at once than is needed makes the search for them rare. */
const LEFT_SHARE = 7 / 8;

/**
 * The names under which Node's `HTTPParser` calls back: with the first byte of a message, with each 31 lines of a head that has
 * not arrived in full, with a head, with a piece of a body, with the end of a message, and after each read.
 */
const ON_BEGIN = 0;
const ON_LINES = 1;
const ON_HEAD = 2;
const ON_BODY = 3;
const ON_END = 4;
const ON_READ = 5;

/** The parser that Node gives each connection, with what it keeps there until a head, or the trailers of a body, are complete. */
interface Parser {
  incoming: IncomingMessage | null;
  _url: string;
  _headers: string[];
  _consumed: boolean;
  [ON_BEGIN]: ((this: Parser) => void) | null;
  [ON_LINES]: (texts: string[], url: string) => void;
  [ON_HEAD]: (...details: unknown[]) => number;
  [ON_BODY]: (piece: Buffer) => void;
  [ON_END]: () => void;
  [ON_READ]: ((read: number | Error) => void) | null;
  execute(bytes: Buffer): number | Error;
  unconsume(): void;
  remove(): void;
  close(): void;
}

/**
 * A head with as many lines as a parser keeps. After a read it copies those of a head that has not arrived in full, each into the
 * place of its number, and frees a place only for the next line of that number.
 */
const ALL_LINES = Buffer.from(`GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(31)}\r\n`);

/** The memory of what a connection has sent of heads and trailers, without those that arrived at once. */
interface Held {
  /** The part of a message that is arriving. */
  phase: 'none' | 'head' | 'body';
  /** Bytes in the places of the parser. */
  lines: number;
  /** Bytes of a chunked body since its last piece: chunk sizes, or trailers. */
  tail: number;
  /** Bytes of pieces of bodies in the present read. */
  body: number;
  /** The sum, with the bytes of lines that the parser has passed on. */
  bytes: number;
  /** Counts the sum again. */
  count(): void;
  onRead(bytes: number): void;
}
const heldBy = new WeakMap<Parser, Held>();

/** The maxima of all heads, in memory, and of one. */
interface HeadLimits {
  headBytesMax: number;
  headerBytesMax: number;
}

export function bytesOfHead(url: string, rawHeaders: readonly string[]): number {
  let bytes = url.length + TEXT_OVERHEAD;
  for (const text of rawHeaders) bytes += text.length + TEXT_OVERHEAD;
  return bytes;
}

/**
 * Closes connections when heads that have not arrived in full take more than `headBytesMax`: those that began first, so no
 * client that sends its head at once. A timer would come too late: Node may parse thousands of heads between two timers.
 * Connections with less than the mean stay: their bodies may be arriving.
 */
export function boundPartialHeads(
  server: Server,
  { headBytesMax: bytesMax, headerBytesMax: headMax }: HeadLimits,
): void {
  /** In the order in which the heads began. */
  const partial = new Map<Socket, Held>();
  let sum = 0;
  const forget = (socket: Socket) => {
    sum -= partial.get(socket)?.bytes ?? 0;
    partial.delete(socket);
  };
  const closeSome = (reading: Socket) => {
    const mean = sum / partial.size;
    for (const [one, { bytes }] of partial) {
      if (sum <= bytesMax * LEFT_SHARE) return;
      if (bytes < mean) continue;
      forget(one);
      one.destroy();
      // The connection itself ends after the round of the event loop, which may bring thousands of heads.
      const parser = parserOf(one);
      if (parser) discard(one, parser, one === reading);
    }
  };
  server.on('connection', (socket: Socket) => {
    const parser = parserOf(socket);
    if (parser == null) return;
    const held: Held = {
      phase: 'none',
      lines: 0,
      tail: 0,
      body: 0,
      bytes: 0,
      count() {
        if (socket.destroyed) return;
        const { _url: url, _headers: texts } = parser;
        const bytes = held.lines + held.tail + (texts.length > 0 ? bytesOfHead(url, texts) : 0);
        if (bytes === 0) return forget(socket);
        sum += bytes - (partial.has(socket) ? held.bytes : 0);
        held.bytes = bytes;
        partial.set(socket, held);
        if (sum > bytesMax) closeSome(socket);
      },
      onRead(bytes) {
        addRead(parser, held, bytes, headMax);
        held.count();
      },
    };
    watchParser(parser, held);
    // Before Node keeps the parser for another connection, whose lines would come on top.
    socket.prependListener('close', () => {
      forget(socket);
      if (parserOf(socket) === parser && held.lines + held.tail > 0) discard(socket, parser, true);
      // The next user may be a client, to whom none of this applies.
      if (heldBy.get(parser) === held) heldBy.delete(parser);
    });
  });
}

/** A read may hold whole requests before the head, and chunks before the trailers: neither may have more than `max`. */
function addRead(parser: Parser, held: Held, bytes: number, max: number): void {
  if (held.phase === 'none') {
    if (held.lines + held.tail > 0) freeLines(parser);
    held.lines = 0;
    held.tail = 0;
  } else if (held.phase === 'head') {
    held.lines += held.tail + Math.min(bytes, max);
    held.tail = 0;
  } else if (parser.incoming?.headers['transfer-encoding'] !== undefined) {
    const tail = bytes - held.body;
    held.tail = Math.min(held.body > 0 ? tail : held.tail + tail, max);
  }
  held.body = 0;
}

/** Frees the places of a parser that is between two messages, unknown to its connection. */
function freeLines(parser: Parser): void {
  const unknown = { [ON_BEGIN]: null, [ON_LINES]: null, [ON_HEAD]: null, [ON_END]: null };
  Object.assign(parser, unknown);
  executeOf(parser).call(parser, ALL_LINES);
  Object.assign(parser, ours, { [ON_BEGIN]: onBegin });
}

/** Deletes the parser of a connection that is closed, as Node does with those that it keeps no longer. */
function discard(socket: Socket, parser: Parser, isRunning: boolean): void {
  (socket as { parser?: Parser | null }).parser = null;
  parser._headers = [];
  if (parser._consumed) parser.unconsume();
  parser.remove();
  if (isRunning) setImmediate(() => parser.close());
  else parser.close();
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

function executeOf(parser: Parser): Parser['execute'] {
  return (Object.getPrototypeOf(parser) as Parser).execute;
}

/** The callbacks of Node, which are the same for all parsers. */
let passed: Pick<Parser, typeof ON_LINES | typeof ON_HEAD | typeof ON_BODY | typeof ON_END>;

/** Node uses a parser for one connection after another, also for those of clients. */
function watchParser(parser: Parser, held: Held): void {
  heldBy.set(parser, held);
  parser[ON_BEGIN] = onBegin;
  const finishRead = parser[ON_READ];
  // Node sets this one for each connection, and calls it unless a listener gets the data of the connection first.
  parser[ON_READ] = (read) => {
    finishRead?.(read);
    noteRead(parser, read);
  };
  if (parser[ON_LINES] === onLines) return;
  passed = {
    [ON_LINES]: parser[ON_LINES],
    [ON_HEAD]: parser[ON_HEAD],
    [ON_BODY]: parser[ON_BODY],
    [ON_END]: parser[ON_END],
  };
  Object.assign(parser, ours);
}

function onBegin(this: Parser): void {
  const held = heldBy.get(this);
  if (held) held.phase = 'head';
}

function onLines(this: Parser, texts: string[], url: string): void {
  passed[ON_LINES].call(this, texts, url);
  heldBy.get(this)?.count();
}

function onHead(this: Parser, ...details: unknown[]): number {
  const held = heldBy.get(this);
  if (held) held.phase = 'body';
  return passed[ON_HEAD].apply(this, details);
}

function onBody(this: Parser, piece: Buffer): void {
  const held = heldBy.get(this);
  if (held) held.body += piece.length;
  passed[ON_BODY].call(this, piece);
}

function onEnd(this: Parser): void {
  const held = heldBy.get(this);
  if (held) held.phase = 'none';
  passed[ON_END].call(this);
}

function execute(this: Parser, bytes: Buffer): number | Error {
  const read = executeOf(this).call(this, bytes);
  noteRead(this, read);
  return read;
}

function noteRead(parser: Parser, read: number | Error): void {
  if (typeof read === 'number') heldBy.get(parser)?.onRead(read);
}

const ours = {
  [ON_LINES]: onLines,
  [ON_HEAD]: onHead,
  [ON_BODY]: onBody,
  [ON_END]: onEnd,
  execute,
};
