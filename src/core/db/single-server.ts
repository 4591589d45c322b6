/**
 * The only server of a DATABASE_URL. Nothing else ends the connections to a machine that has lost its power, its network
 * or its address: what waits for a response would wait until the operating system gives up, some fifteen minutes.
 */
import type postgres from 'postgres';
import type { DatabaseServer } from '../lib/database-url.ts';
import { ServerProbe } from './server-probe.ts';
import { ServerWatch } from './server-watch.ts';

/**
 * Probes in a row without any response, after which all connections are ended: some fifteen seconds. There is no other
 * server to go to, so a short stall is waited out.
 */
const SILENCES_MAX = 5;
/**
 * A server that has sent something in this time, on any connection, is alive: it is slow, or a connection pooler lets the
 * probe wait for its turn.
 */
const QUIET_MS = 8_000;

export class SingleServer extends ServerWatch {
  readonly #probe: ServerProbe<true>;
  /** Its connections were ended since it last responded. */
  #isAway = false;

  constructor(server: DatabaseServer) {
    super();
    this.#probe = new ServerProbe(server, respond);
  }

  override get url(): string {
    return this.#probe.server.url;
  }

  protected override get probes(): readonly ServerProbe<unknown>[] {
    return [this.#probe];
  }

  override async find(): Promise<DatabaseServer> {
    return this.#probe.server;
  }

  protected override isUsed(): boolean {
    return true;
  }

  protected override onIdle(): void {}

  protected override async probeOnce(): Promise<void> {
    await this.#probe.probe();
    const { name: server, silences } = this.#probe;
    if (silences === 0) this.#isAway = false;
    if (silences < SILENCES_MAX) return;
    this.sockets.note();
    if (this.sockets.haveHeardSince(performance.now() - QUIET_MS)) return;
    const connections = this.sockets.destroy(() => true);
    // Those that were opened since fail too, in a few seconds instead of half a minute.
    if (this.#isAway) return;
    this.#isAway = true;
    this.log?.warn({ server, connections }, 'the database does not respond, connections ended');
  }
}

async function respond(sql: postgres.Sql): Promise<true> {
  await sql`select`;
  return true;
}
