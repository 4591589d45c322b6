/**
 * A TCP proxy on loopback that can simulate a bad network: slow, in small pieces, silent, cut, reset; or, in
 * front of an HTTP server, one that responds 503.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Toxic =
  | { kind: 'none' }
  /** Delays each piece of data. */
  | { kind: 'latency'; ms: number }
  /** Splits data into pieces of `bytes`. */
  | { kind: 'slice'; bytes: number; ms: number }
  /** Connections stay open, but no data passes. */
  | { kind: 'blackhole' }
  /** Connections of now stay open and pass no data ever again; new ones work. */
  | { kind: 'forget' }
  /** Closes connections and refuses new ones. */
  | { kind: 'cut' }
  /** Resets connections once; new ones work. */
  | { kind: 'reset' }
  /** Responds to new connections with 503 Service Unavailable. */
  | { kind: 'unavailable' };

const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

const PIECES_MAX = 20;

export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #targetPort: () => number;
  readonly #pairs = new Set<[Socket, Socket]>();
  readonly #forgotten = new WeakSet<Socket>();
  #toxic: Toxic = { kind: 'none' };
  #changed: () => void = () => {};
  #untilChange: Promise<void> = Promise.resolve();

  private constructor(targetPort: () => number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** Listens on a free port and relays to `targetPort()` on loopback, called for each connection. */
  static async open(targetPort: () => number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Applies to existing and new connections. */
  behave(toxic: Toxic): void {
    this.#toxic = toxic;
    if (toxic.kind === 'forget') this.#forEach((one) => this.#forgotten.add(one));
    this.#changed();
    this.#untilChange = new Promise((resolve) => {
      this.#changed = resolve;
    });
    if (toxic.kind === 'cut' || toxic.kind === 'unavailable') this.#forEach((one) => one.destroy());
    if (toxic.kind === 'reset') this.#forEach((one) => one.resetAndDestroy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.behave({ kind: 'cut' });
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #forEach(end: (socket: Socket) => void): void {
    for (const pair of this.#pairs) for (const socket of pair) end(socket);
  }

  #accept(client: Socket): void {
    client.on('error', () => {});
    if (this.#toxic.kind === 'cut') return void client.resetAndDestroy();
    if (this.#toxic.kind === 'unavailable') {
      client.once('data', () => client.end(UNAVAILABLE));
      return;
    }
    const target = connect({ port: this.#targetPort(), host: '127.0.0.1', allowHalfOpen: true });
    target.on('error', () => {});
    for (const socket of [client, target]) socket.setNoDelay(true);
    const pair: [Socket, Socket] = [client, target];
    this.#pairs.add(pair);
    void this.#pump(client, target);
    void this.#pump(target, client);
    const end = () => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.once('close', end);
  }

  /** Relays one direction; an error of one side closes the other. */
  async #pump(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const data of from) {
        for (const piece of await this.#pieces(data as Buffer, from)) {
          if (!to.write(piece.data)) await once(to, 'drain');
          if (piece.ms > 0) await delay(piece.ms);
        }
      }
      to.end();
    } catch {
      from.destroy();
      to.destroy();
    }
  }

  async #untilPassable(from: Socket): Promise<void> {
    while (this.#toxic.kind === 'blackhole' || this.#forgotten.has(from)) await this.#untilChange;
  }

  async #pieces(data: Buffer, from: Socket): Promise<{ data: Buffer; ms: number }[]> {
    await this.#untilPassable(from);
    const toxic = this.#toxic;
    if (toxic.kind === 'latency') {
      await delay(toxic.ms);
      await this.#untilPassable(from);
    }
    if (toxic.kind !== 'slice') return [{ data, ms: 0 }];
    const pieces: { data: Buffer; ms: number }[] = [];
    // Long data in small pieces would take too long: only its beginning is split.
    const cutUp = Math.min(data.length, toxic.bytes * PIECES_MAX);
    for (let at = 0; at < cutUp; at += toxic.bytes) {
      pieces.push({ data: data.subarray(at, Math.min(at + toxic.bytes, cutUp)), ms: toxic.ms });
    }
    if (cutUp < data.length) pieces.push({ data: data.subarray(cutUp), ms: 0 });
    return pieces;
  }
}
