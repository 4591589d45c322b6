/** A Postgres primary with a synchronous standby that an operator promotes. */
import { connect as openConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import type { OpenDatabase } from '../chaos/chaos-stack.ts';
import type { History } from '../chaos/history.ts';
import type { Random } from '../chaos/random.ts';
import { PostgresPair } from '../servers/postgres-pair.ts';
import type { LosingServers } from './losing-servers.ts';

/** Time in which the standby falls behind, in half of the rounds. */
const BEHIND_MS = 700;
const WATCH_MS = 3_000;
const LOOK_AGAIN_MS = 100;

export class LosingPostgres implements LosingServers {
  readonly backend = 'embedded';
  readonly parts: { openDatabase: OpenDatabase };
  #opened: PostgresPair | null = null;

  /**
   * @param mutant `asynchronous`: commits do not wait for the standby; `first-server`: processes connect to the first server that
   *   accepts connections
   */
  constructor(mutant: string | null) {
    const openDatabase: OpenDatabase = async ({ dataDir, opened, line }) => {
      const pair = opened.use(await PostgresPair.open(dataDir, mutant !== 'asynchronous'));
      this.#opened = pair;
      const address = mutant === 'first-server' ? await openNaiveLine(pair, line) : pair.url;
      return {
        url: () => pair.url,
        addresses: { api: address, worker: address },
        restart: () => Promise.reject(new Error('the drill loses servers by itself')),
      };
    };
    this.parts = { openDatabase };
  }

  get #pair(): PostgresPair {
    return must(this.#opened, 'the servers');
  }

  async fail(random: Random, history: History): Promise<Record<string, unknown>> {
    const how = random.chance(0.5) ? 'kill' : 'freeze';
    const isBehind = random.chance(0.5);
    const waitMs = random.between(0, 3_000);
    if (isBehind) {
      this.#pair.delayStandby();
      await delay(BEHIND_MS);
    }
    await this.#pair.losePrimary(how);
    history.note('primary lost', { how, isBehind, waitMs });
    await delay(waitMs);
    await this.#pair.promote();
    return { how, isBehind, waitMs };
  }

  returnOld(): Promise<void> {
    return this.#pair.returnOld();
  }

  /** Before that it watches that the old primary is not written to. */
  async follow(history: History): Promise<void> {
    const before = await this.#pair.countWritesOnOld();
    await delay(WATCH_MS);
    const written = (await this.#pair.countWritesOnOld()) - before;
    if (written !== 0) history.violate('an old primary is not written to', { written });
    await this.#pair.rebuild();
  }
}

/** An address that leads to the first of both servers that accepts connections, as a client that knows nothing of roles. */
async function openNaiveLine(
  pair: PostgresPair,
  line: (name: string, port: () => number) => Promise<number>,
): Promise<string> {
  const [first = 0, second = 0] = pair.ports;
  let current = first;
  const look = () => {
    const socket = openConnection(first, '127.0.0.1');
    socket.once('connect', () => {
      current = first;
      socket.destroy();
    });
    socket.once('error', () => {
      current = second;
    });
  };
  setInterval(look, LOOK_AGAIN_MS).unref();
  const port = await line('naive', () => current);
  const [url = ''] = pair.url.split('?');
  return url.replace(/@[^/]*/, `@127.0.0.1:${port}`);
}
