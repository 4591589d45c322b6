/**
 * A primary and its standby on two fixed ports, and the hand of an operator: loses the primary, promotes the standby, brings
 * the old primary back, makes it the standby of the new one.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infra/embedded/embedded-postgres.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { TcpProxy } from '../chaos/tcp-proxy.ts';
import { signalAll, stopTree } from '../process-table.ts';
import { copyServer } from './standby.ts';

const STREAMING_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 50;
/** Two servers on one small machine. */
const small = { shared_buffers: '128MB', wal_keep_size: '256MB' };

interface Node {
  dataDir: string;
  port: number;
  server: EmbeddedPostgres;
  /** Lost by `freeze`: all its processes have SIGSTOP. */
  frozen: number[];
}

export class PostgresPair implements AsyncDisposable {
  readonly #isSynchronous: boolean;
  readonly #replication: TcpProxy;
  #primary: Node;
  #standby: Node;
  /** The service's addresses of both, in the order of their creation. */
  readonly #urls: [string, string];

  private constructor(nodes: [Node, Node], replication: TcpProxy, isSynchronous: boolean) {
    [this.#primary, this.#standby] = nodes;
    this.#urls = [nodes[0].server.url, nodes[1].server.url];
    this.#replication = replication;
    this.#isSynchronous = isSynchronous;
  }

  /** Starts both in folders below this one. Without `isSynchronous` no commit waits for the standby. */
  static async open(folder: string, isSynchronous: boolean): Promise<PostgresPair> {
    const state: { port: number } = { port: 0 };
    const replication = await TcpProxy.open(() => state.port);
    const primary = await startNode(path.join(folder, 'a'), {});
    state.port = primary.port;
    const standby = await follow(primary, path.join(folder, 'b'), null, replication.port);
    const pair = new PostgresPair([primary, standby], replication, isSynchronous);
    pair.#followed = state;
    await pair.#waitForStandby();
    return pair;
  }

  /** The port that the proxy of the replication leads to. */
  #followed: { port: number } = { port: 0 };

  /** The service's address with both servers. */
  get url(): string {
    const [first, second] = this.#urls.map((url) => new URL(url)) as [URL, URL];
    return `${first.href.replace(first.host, `${first.host},${second.host}`)}?target_session_attrs=read-write`;
  }

  /** Ports of both, in the order of the URL. */
  get ports(): number[] {
    return this.#urls.map((url) => Number(new URL(url).port));
  }

  /** Holds back what the standby receives from now on, until the primary is lost. */
  delayStandby(): void {
    this.#replication.behave({ kind: 'blackhole' });
  }

  /** Stops every process of the primary at one moment; with `kill` for good. */
  async losePrimary(how: 'kill' | 'freeze'): Promise<void> {
    const { server } = this.#primary;
    const pids = await stopTree(server.pid);
    this.#replication.behave({ kind: 'cut' });
    this.#primary.frozen = pids;
    if (how === 'freeze') return;
    signalAll(pids, 'SIGKILL');
    this.#primary.frozen = [];
    await server.exited;
  }

  /** Makes the standby the primary; the other one is then the old primary. */
  async promote(): Promise<void> {
    await ask(this.#standby, (sql) => sql`select pg_promote()`);
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
  }

  /**
   * Brings the old primary back as it was, or, when it was killed, as a server that needs no standby for its commits, as by
   * a careless operator.
   */
  async returnOld(): Promise<void> {
    const old = this.#standby;
    if (old.frozen.length > 0) {
      signalAll(old.frozen.splice(0), 'SIGCONT');
      return;
    }
    old.server = await startServer(old.dataDir, { synchronous_standby_names: '' });
  }

  /** Rows that were ever inserted, changed or deleted in the old primary, as far as it remembers. */
  async countWritesOnOld(): Promise<number> {
    const [row] = await ask(
      this.#standby,
      (sql) => sql<{ writes: number }[]>`
        select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint as writes from pg_stat_user_tables`,
    );
    return row?.writes ?? 0;
  }

  /** Makes the old primary a standby of the present one. */
  async rebuild(): Promise<void> {
    const { dataDir, port } = this.#standby;
    await end(this.#standby);
    await rm(dataDir, { recursive: true, force: true });
    this.#followed.port = this.#primary.port;
    this.#replication.behave({ kind: 'none' });
    this.#standby = await follow(this.#primary, dataDir, port, this.#replication.port);
    await this.#waitForStandby();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replication[Symbol.asyncDispose]();
    await Promise.all([end(this.#primary), end(this.#standby)]);
  }

  /** Resolves when the standby has everything; from then on commits wait for it. */
  async #waitForStandby(): Promise<void> {
    const deadline = Date.now() + STREAMING_MS_MAX;
    const isStreaming = async (sql: Database) => {
      const rows = await sql`select from pg_stat_replication where state = 'streaming'`;
      return rows.length > 0;
    };
    while (!(await ask(this.#primary, isStreaming))) {
      if (Date.now() > deadline) throw new Error('the standby does not follow the primary');
      await delay(LOOK_AGAIN_MS);
    }
    if (!this.#isSynchronous) return;
    await ask(this.#primary, async (sql) => {
      await sql`alter system set synchronous_standby_names = '*'`;
      await sql`select pg_reload_conf()`;
    });
  }
}

async function startNode(dataDir: string, settings: Record<string, string>): Promise<Node> {
  const server = await startServer(dataDir, settings);
  return { dataDir, port: Number(new URL(server.url).port), server, frozen: [] };
}

function startServer(dataDir: string, settings: Record<string, string>): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, settings: { ...small, ...settings } });
}

async function follow(
  primary: Node,
  dataDir: string,
  port: number | null,
  followedPort: number,
): Promise<Node> {
  const from = { url: primary.server.adminUrl, dataDir: primary.dataDir, followedPort };
  return startNode(dataDir, await copyServer(from, dataDir, port));
}

async function end({ server, frozen }: Node): Promise<void> {
  signalAll(frozen, 'SIGCONT');
  signalAll([server.pid], 'SIGQUIT');
  await server.stop();
}

async function ask<T>({ server }: Node, work: (sql: Database) => Promise<T>): Promise<T> {
  const sql = connect({ url: server.adminUrl, connections: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
