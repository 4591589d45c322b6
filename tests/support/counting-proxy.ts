/**
 * A proxy for Postgres that counts statements, transactions, rows and columns as the server reports them,
 * independent of the driver and of time. The messages are described in the protocol's chapter "Message Formats".
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
    const sent: string[][] = [];
    client.on('data', readTexts(traffic, sent));
    upstream.on('data', countAnswers(traffic, sent));
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

/**
 * Statements that are due by the clock, whatever is done meanwhile: whether the server responds, and whether callers are valid.
 */
const TIMED = /^\s*select(\s+c\.place::int - 1 as place\s.*)?\s*$/s;

/** Records the statements of one connection's client; in `sent` those before each response that the server is ready. */
function readTexts(traffic: Traffic, sent: string[][]): (piece: Buffer) => void {
  const prepared = new Map<string, string>();
  let run: string[] = [];
  return readMessages(true, (kind, body) => {
    const [first = '', second = ''] = body.toString().split('\0', 2);
    if (kind === 'P') prepared.set(first, second);
    // A bound portal is executed; a simple query contains its text.
    const ran = kind === 'B' ? prepared.get(second) : kind === 'Q' ? first : undefined;
    if (ran !== undefined) {
      traffic.texts[ran] = (traffic.texts[ran] ?? 0) + 1;
      run.push(ran);
    }
    if (kind !== 'Q' && kind !== 'S') return;
    sent.push(run);
    run = [];
  });
}

/** Counts the server's responses on one connection, without those to timed statements. */
function countAnswers(traffic: Traffic, sent: string[][]): (piece: Buffer) => void {
  let hasRun = false;
  let words: string[] = [];
  let cells: number[] = [];
  return readMessages(false, (kind, body) => {
    if (kind === 'D') cells.push(body.readInt16BE(0));
    // "SELECT 12", "INSERT 0 1", "COMMIT": the first word is the command.
    else if (kind === 'C') words.push(body.toString('latin1').split(/[ \0]/)[0] ?? '');
    else if (kind === 'Z') {
      const texts = sent.shift() ?? [];
      if (texts.length === 0 || !texts.every((text) => TIMED.test(text))) {
        traffic.rows += cells.length;
        traffic.cells += cells.reduce((sum, count) => sum + count, 0);
        for (const word of words) traffic.statements[word] = (traffic.statements[word] ?? 0) + 1;
        hasRun ||= words.length > 0;
        if (hasRun && body.toString('latin1') === 'I') {
          traffic.transactions++;
          hasRun = false;
        }
      }
      [words, cells] = [[], []];
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
