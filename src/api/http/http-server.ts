/**
 * The HTTP server and the bounds of its connections. A client that is slow, silent or does not send HTTP is cut off,
 * if possible with a problem document.
 */
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express, RequestHandler } from 'express';
import { uuidv7 } from 'uuidv7';
import { must } from '../../core/lib/assert.ts';
import { AppError, invalidRequest } from '../../core/lib/errors.ts';
import { noteConnection } from '../../core/limits/thread-turns.ts';
import { readInTurns } from './body-turns.ts';
import { makeRoom } from './make-room.ts';
import { boundPartialHeads, bytesOfHead } from './partial-heads.ts';
import { renderProblem, toProblem } from './problem.ts';
import { bodyRateMin, isSending, type SlownessLimits, watchSlowClients } from './slow-clients.ts';

export interface HttpLimits extends SlownessLimits {
  /** Time from the first byte of a connection, or of its next request, to the end of the headers. */
  headersMs: number;
  /** Time for a body other than an upload. */
  bodyMs: number;
  /** Time without a byte in either direction. Longer than any response takes but those of `allowSilence`. */
  stallMs: number;
  /** Time between two requests; longer than that of load balancers in front of the service. */
  keepAliveMs: number;
  /**
   * Maximum requests of one connection that are in progress or wait: each is processed after the response to the one before
   * it. Processed at once, those behind a stream would keep their places for as long as it lasts, and no client would be slow.
   */
  pipelinedMax: number;
  /** Maximum requests of all connections that wait for the response before theirs: each keeps its headers in memory. */
  waitingMax: number;
  headerBytesMax: number;
  /** A header of five bytes takes ten times as many in memory. */
  headersMax: number;
  /**
   * Maximum bytes that the heads of all requests take, and again those that have not arrived in full. Those of 4,200 connections
   * filled the heap that Node has in 512 MiB.
   */
  headBytesMax: number;
  urlCharactersMax: number;
  connectionsMax: number;
}

export const httpLimits: HttpLimits = {
  headersMs: 10_000,
  bodyMs: 20_000,
  stallMs: 60_000,
  keepAliveMs: 65_000,
  checkMs: 1_000,
  bytesPerSecondMin: 1024,
  demandedBytesPerSecondMin: 32 * 1024,
  rateMs: 20_000,
  drainMs: 10_000,
  crowdFrom: 500,
  crowdMs: 30_000,
  crowdedIdleMs: 10_000,
  pipelinedMax: 4,
  waitingMax: 1_000,
  headerBytesMax: 16 * 1024,
  headersMax: 100,
  headBytesMax: 16 * 1024 * 1024,
  urlCharactersMax: 8 * 1024,
  connectionsMax: 10_000,
};

/** Time for which a connection stays open after a response to a request that was not read to its end. */
const LINGER_MS = 1_000;

/** Node takes what follows for another protocol. */
const PARSE_NO_MORE = 2;

/** Returns a server for the application, or for a listener that passes requests on to it; the caller calls `listen`. */
export function createHttpServer(
  app: Express,
  limits: HttpLimits = httpLimits,
  listener: RequestListener = app,
): Server {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({
    ...messagesOf(app),
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMs,
    // Bodies have limits of their own: see `limitRequest`.
    requestTimeout: 0,
    connectionsCheckingInterval: limits.checkMs,
    // Such a request is refused below, with a problem document.
    requireHostHeader: false,
    keepAliveTimeout: limits.keepAliveMs,
  });
  server.timeout = limits.stallMs;
  // Node leaves out those beyond, or refuses them (24.21): one more than may be sent shows that there are too many.
  server.maxHeadersCount = limits.headersMax + 1;
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  const waiting = new Set<ServerResponse>();
  server.on('connection', (socket) => {
    noteConnection();
    const responses = new Set<ServerResponse>();
    open.set(socket, responses);
    // Those that were never begun do not close.
    socket.once('close', () => {
      for (const response of responses) waiting.delete(response);
    });
  });
  boundPartialHeads(server, limits);
  const room = makeRoom(server, limits, (socket) => isWaitingForClient(socket, open.get(socket)));
  const watch = watchSlowClients(server, limits, (request, response) => {
    if (response.headersSent) request.socket.destroy();
    else refuseRest(request, response, bodyTooSlow(bodyRateMin(response, limits), limits));
  });
  const take = (request: IncomingMessage, response: ServerResponse, refusal?: AppError) => {
    const { socket } = request;
    const ahead = must(open.get(socket), 'responses of the connection');
    const before = lastOf(ahead);
    const isInTurn = before === undefined;
    // One that waits may hold nothing but its headers.
    const mayWait =
      ahead.size < limits.pipelinedMax && waiting.size < limits.waitingMax && !hasBody(request);
    if (socket.destroyed || !(isInTurn || mayWait)) {
      socket.destroy();
      stopParsing(socket);
      return;
    }
    ahead.add(response);
    const headBytes = bytesOfHead(request.url ?? '', request.rawHeaders);
    room.enter(socket, headBytes);
    if (socket.destroyed) return;
    response.once('close', () => {
      ahead.delete(response);
      // A connection that waits for its next request keeps nothing of this one.
      latest.delete(socket);
      room.leave(socket, headBytes);
    });
    const begin = () => {
      waiting.delete(response);
      // The response before it has ended the connection.
      if (response.socket === null) return;
      latest.set(socket, response);
      readInTurns(request);
      watch(request, response);
      if (request.rawHeaders.length > 2 * limits.headersMax) {
        refuseUnread(request, response, headersTooLarge(limits));
      } else if (refusal !== undefined) refuseUnread(request, response, refusal);
      else if (!hasHost(request)) refuseUnread(request, response, hostMissing());
      else if (!isBodyReadable(request)) refuseUnread(request, response, transferCodingUnknown());
      else listener(request, response);
    };
    if (isInTurn) begin();
    else {
      waiting.add(response);
      before.once('close', begin);
    }
  };
  server.on('request', (request, response) => take(request, response));
  server.on('checkExpectation', (request, response) => {
    take(request, response, expectationUnknown(request.headers.expect ?? ''));
  });
  server.on('clientError', (error: ClientError, socket) => {
    const response = latest.get(socket);
    const isResponding = response?.headersSent === true && !response.writableEnded;
    if (error.code === 'ECONNRESET' || !socket.writable || isResponding) socket.destroy();
    else refuse(socket, describeClientError(error, limits));
  });
  return server;
}

/**
 * Returns the classes of the application's requests and responses. Express gives each the prototype of its own helpers: V8
 * then forgets the shape of the object, and the rest of a request took three times the CPU. Made with that prototype,
 * they keep it.
 */
function messagesOf(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Of extends IncomingMessage> extends ServerResponse<Of> {}
  // No route reads trailers: kept, they would take as much memory as a second head.
  Object.defineProperties(AppRequest.prototype, {
    rawTrailers: { get: () => [], set: () => {} },
    trailers: { get: () => ({}) },
  });
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response);
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** Returns true for a connection with these responses when the first of them waits for the client, not for the service. */
function isWaitingForClient(
  socket: Socket,
  responses: ReadonlySet<ServerResponse> | undefined,
): boolean {
  const [response] = responses ?? [];
  return response !== undefined && (isSending(response.req) || socket.writableLength > 0);
}

/**
 * Ends the parsing of what was read of a closed connection: up to 64 KiB, thousands of requests that Node would keep until the
 * round of the event loop is over.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: () => number } | null };
  if (parser) parser.onIncoming = () => PARSE_NO_MORE;
}

/** The one that was added last. */
function lastOf<Item>(items: ReadonlySet<Item>): Item | undefined {
  let last: Item | undefined;
  for (const item of items) last = item;
  return last;
}

/**
 * Refuses a request whose URL is too long, and one whose body, unless it is an upload, arrives too slowly. After a delay
 * of the service the client has the whole time for the rest.
 */
export function limitRequest(
  limits: HttpLimits,
  isUpload: (request: Parameters<RequestHandler>[0]) => boolean,
): RequestHandler {
  return (request, response, next) => {
    if (request.url.length > limits.urlCharactersMax) throw urlTooLong(limits);
    if (!hasBody(request) || isUpload(request)) return next();
    // No route reads the body of a GET: it would stay in memory for as long as the response takes.
    if (request.method === 'GET' || request.method === 'HEAD') request.resume();
    let isDelayedHere = false;
    const look = () => {
      if (response.closed) return;
      if (!lacksBody(request)) isDelayedHere = true;
      else if (isDelayedHere) isDelayedHere = false;
      else {
        stop();
        if (response.headersSent) response.destroy();
        else refuseRest(request, response, bodyTooLate(limits));
      }
    };
    // After what has arrived is read: a busy process gets to its timers before its connections.
    const timer = setInterval(() => setImmediate(look), limits.bodyMs);
    const stop = () => clearInterval(timer);
    request.once('end', stop);
    response.once('close', stop);
    next();
  };
}

/** Returns true for a request whose headers announce a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length !== '0' || encoding !== undefined;
}

/**
 * Returns true while the client owes a part of the body. A body that has arrived may wait to be read, and one that fills its
 * buffer is not taken from the connection: both are delays of the service, such as a database that is away.
 */
function lacksBody(request: IncomingMessage): boolean {
  return !request.complete && request.readableLength < request.readableHighWaterMark;
}

/** Returns false for a request of HTTP/1.1 without `Host`, or with several, which gets 400 (RFC 9112, section 3.2). */
function hasHost({ httpVersion, headersDistinct }: IncomingMessage): boolean {
  return httpVersion !== '1.1' || headersDistinct.host?.length === 1;
}

/** Returns false for a body with a further coding under its chunks, which gets 501 (RFC 9112, section 6.1). */
function isBodyReadable({ headers }: IncomingMessage): boolean {
  return (headers['transfer-encoding'] ?? 'chunked').trim().toLowerCase() === 'chunked';
}

/** Responds to a request whose body is still arriving, and ends the connection. */
function refuseRest(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  response.setHeader('Connection', 'close');
  renderProblem(response as Parameters<typeof renderProblem>[0], error);
  // Ends reads that wait for the rest of the body.
  response.once('close', () => request.destroy());
  setTimeout(() => request.destroy(), LINGER_MS).unref();
}

interface ClientError extends Error {
  code?: string;
  /** The bytes that could not be parsed. */
  rawPacket?: Buffer;
}

function describeClientError({ code, rawPacket }: ClientError, limits: HttpLimits): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return requestTimeout(
      `The headers did not arrive within ${limits.headersMs / 1000} seconds. Send the request again.`,
    );
  }
  if (code !== 'HPE_HEADER_OVERFLOW') {
    return invalidRequest('Malformed HTTP request.');
  }
  const [line = ''] = (rawPacket?.toString('latin1') ?? '').split('\r\n', 1);
  const isRequestLine = /^[A-Z]+ \S*/.test(line) && line.length > limits.urlCharactersMax;
  return isRequestLine ? urlTooLong(limits) : headersTooLarge(limits);
}

/** Responds on a connection whose request could not be parsed, and ends it. */
function refuse(socket: Duplex, error: AppError): void {
  const { headers, body } = problemMessage(error);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n`;
  socket.end(`${status}${head.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Responds to a request that the application never gets, after those before it, and ends the connection. */
function refuseUnread(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const { headers, body } = problemMessage(error);
  response.writeHead(error.status, headers).end(body);
  setTimeout(() => request.destroy(), LINGER_MS).unref();
}

/** Returns a problem document and its headers, for responses outside of the application. */
function problemMessage(error: AppError): { headers: Record<string, string>; body: string } {
  const requestId = uuidv7();
  const body = JSON.stringify(toProblem(error, requestId));
  const headers = {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  return { headers, body };
}

function hostMissing(): AppError {
  return invalidRequest('Send one header `Host`, which HTTP/1.1 requires.');
}

function transferCodingUnknown(): AppError {
  return new AppError({
    code: 'transfer_coding_unknown',
    status: 501,
    message:
      'The body has an unknown transfer coding: send it with `Transfer-Encoding: chunked` alone, or with a length.',
  });
}

function expectationUnknown(expectation: string): AppError {
  return new AppError({
    code: 'expectation_failed',
    status: 417,
    message: `The expectation \`${expectation.slice(0, 100)}\` cannot be met: send \`Expect: 100-continue\` or no \`Expect\` header.`,
  });
}

function requestTimeout(message: string): AppError {
  return new AppError({ code: 'request_timeout', status: 408, message });
}

function bodyTooLate({ bodyMs }: HttpLimits): AppError {
  return requestTimeout(`The body did not arrive within ${bodyMs / 1000} seconds. Send it again.`);
}

function bodyTooSlow(bytesPerSecondMin: number, { rateMs }: HttpLimits): AppError {
  const seconds = rateMs / 1000;
  return requestTimeout(
    `For ${seconds} seconds the body arrived at less than ${bytesPerSecondMin} bytes per second. Send it again.`,
  );
}

function urlTooLong({ urlCharactersMax }: HttpLimits): AppError {
  return new AppError({
    code: 'uri_too_long',
    status: 414,
    message: `The URL must have at most ${urlCharactersMax} characters.`,
  });
}

function headersTooLarge({ headersMax, headerBytesMax }: HttpLimits): AppError {
  return new AppError({
    code: 'headers_too_large',
    status: 431,
    message: `There must be at most ${headersMax} headers of at most ${headerBytesMax} bytes together.`,
  });
}
