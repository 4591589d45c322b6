/**
 * A way to Postgres that counts what passes: statements, transactions, rows and columns, as the server
 * reports them, whatever the driver makes of them. The messages are those of the protocol's chapter
 * "Message Formats".
 */
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

export interface Traffic {
  /** Statements by the word that the server ends each with, such as `SELECT` or `COMMIT`. */
  statements: Record<string, number>;
  /** Times that a connection had nothing open any more: each is a transaction of its own. */
  transactions: number;
  /** Rows that the driver decodes, and their cells. */
  rows: number;
  cells: number;
}

export interface CountingProxy {
  /** The address of the database by way of the proxy. */
  url: string;
  /** What passed since the last call. */
  take(): Traffic;
  close(): void;
}

const HEADER_BYTES = 5;

/** Opens the proxy on a free port of loopback. */
export async function openCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  const target = new URL(databaseUrl);
  const traffic = emptyTraffic();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectTo(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // Either end may go at any time; the other one goes with it.
      socket.on('error', () => {});
      socket.once('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.on('data', countMessages(traffic));
    client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    take() {
      const taken = structuredClone(traffic);
      Object.assign(traffic, emptyTraffic());
      return taken;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function emptyTraffic(): Traffic {
  return { statements: {}, transactions: 0, rows: 0, cells: 0 };
}

/** Counts the messages of one connection, which come in pieces of any length. */
function countMessages(traffic: Traffic): (piece: Buffer) => void {
  let waiting = Buffer.alloc(0);
  let hasRun = false;
  return (piece) => {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= HEADER_BYTES) {
      const end = 1 + waiting.readInt32BE(1);
      if (waiting.length < end) return;
      const kind = String.fromCharCode(waiting[0] ?? 0);
      const body = waiting.subarray(HEADER_BYTES, end);
      waiting = waiting.subarray(end);
      if (kind === 'D') {
        traffic.rows++;
        traffic.cells += body.readInt16BE(0);
      } else if (kind === 'C') {
        // "SELECT 12", "INSERT 0 1", "COMMIT": the first word says what it was.
        const word = body.toString('latin1').split(/[ \0]/)[0] ?? '';
        traffic.statements[word] = (traffic.statements[word] ?? 0) + 1;
        hasRun = true;
      } else if (kind === 'Z' && hasRun && body.toString('latin1') === 'I') {
        traffic.transactions++;
        hasRun = false;
      }
    }
  };
}
