/**
 * A proxy for Postgres that counts statements, transactions, rows and columns as the server reports them,
 * independent of the driver. The messages are described in the protocol's chapter "Message Formats".
 */
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

export interface Traffic {
  /** Statements by command tag, such as `SELECT` or `COMMIT`. */
  statements: Record<string, number>;
  /** Number of transactions: times that a connection became idle. */
  transactions: number;
  /** Rows that the driver decodes. */
  rows: number;
  cells: number;
  /** Executions of each statement text, with `$1` for values. */
  texts: Record<string, number>;
}

export interface CountingProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** The traffic since the last call. */
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
      // Either side may close at any time; the other is closed with it.
      socket.on('error', () => {});
      socket.once('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', readTexts(traffic));
    upstream.on('data', countAnswers(traffic));
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
  return { statements: {}, transactions: 0, rows: 0, cells: 0, texts: {} };
}

/** Records the statements of one connection's client. */
function readTexts(traffic: Traffic): (piece: Buffer) => void {
  const prepared = new Map<string, string>();
  return readMessages(true, (kind, body) => {
    const [first = '', second = ''] = body.toString().split('\0', 2);
    if (kind === 'P') prepared.set(first, second);
    // A bound portal is executed; a simple query contains its text.
    const ran = kind === 'B' ? prepared.get(second) : kind === 'Q' ? first : undefined;
    if (ran !== undefined) traffic.texts[ran] = (traffic.texts[ran] ?? 0) + 1;
  });
}

/** Counts the server's responses on one connection. */
function countAnswers(traffic: Traffic): (piece: Buffer) => void {
  let hasRun = false;
  return readMessages(false, (kind, body) => {
    if (kind === 'D') {
      traffic.rows++;
      traffic.cells += body.readInt16BE(0);
    } else if (kind === 'C') {
      // "SELECT 12", "INSERT 0 1", "COMMIT": the first word is the command.
      const word = body.toString('latin1').split(/[ \0]/)[0] ?? '';
      traffic.statements[word] = (traffic.statements[word] ?? 0) + 1;
      hasRun = true;
    } else if (kind === 'Z' && hasRun && body.toString('latin1') === 'I') {
      traffic.transactions++;
      hasRun = false;
    }
  });
}

/** Splits the byte stream of one side of a connection into messages. */
function readMessages(
  isClient: boolean,
  take: (kind: string, body: Buffer) => void,
): (piece: Buffer) => void {
  let waiting = Buffer.alloc(0);
  // The first message of a client has no type byte before its length.
  let letterBytes = isClient ? 0 : 1;
  return (piece) => {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= HEADER_BYTES) {
      const end = letterBytes + waiting.readInt32BE(letterBytes);
      if (waiting.length < end) return;
      if (letterBytes === 1)
        take(String.fromCharCode(waiting[0] ?? 0), waiting.subarray(HEADER_BYTES, end));
      letterBytes = 1;
      waiting = waiting.subarray(end);
    }
  };
}
