/** Many nearly idle connections, held by a separate process. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerParent } from './answer-parent.ts';

export interface SlowConnections {
  port: number;
  /** The first data of each connection, used in turn. */
  first: readonly string[];
  count: number;
  /** Sent every second; null for nothing. */
  drip: string | null;
  /** False for connections that read a byte a second. */
  reads: boolean;
}

/** The state of the connections. */
export interface Held {
  /** Their ports on this side. */
  ports: number[];
  /** Connections closed by the other side; one that does not read may not notice. */
  ended: number;
  /** Of those that read: number of responses by status. */
  statuses: Record<string, number>;
  /** Of those that read: number notified that a batch is completed. */
  completed: number;
}

type Question = { open: SlowConnections } | { look: true };

const DRIP_MS = 1000;
const held: Held = { ports: [], ended: 0, statuses: {}, completed: 0 };

answerParent(async (question: Question): Promise<Held> => {
  if ('open' in question) await open(question.open);
  return held;
});

async function open({ port, first, count, drip, reads }: SlowConnections): Promise<void> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('close', () => held.ended++);
    await once(socket, 'connect');
    held.ports.push(socket.localPort ?? 0);
    if (reads) socket.on('data', (bytes) => read(bytes.toString('latin1')));
    else socket.pause();
    socket.write(first[sockets.length % first.length] ?? '');
    sockets.push(socket);
  }
  setInterval(() => {
    for (const socket of sockets) {
      if (drip !== null && socket.writable) socket.write(drip);
      if (!reads) socket.read(1);
    }
  }, DRIP_MS);
}

function read(text: string): void {
  const status = /^HTTP\/1\.1 (\d+) /.exec(text)?.[1];
  if (status !== undefined) held.statuses[status] = (held.statuses[status] ?? 0) + 1;
  if (text.includes('"state":"completed"')) held.completed++;
}
