/**
 * The name keys of the companies that a build has inserted and whose keys it writes later, those of some parts together: keys
 * are scattered over their index, of which each part would write most pages again. Until then no likely match finds these
 * companies. What a process that died left is noted in the database, and written by the next build.
 */
import type { Database, Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import {
  hasKeysToWrite,
  insertCompanyKeys,
  type Keyed,
  listWithoutKeys,
  noteKeysToWrite,
  refreshCompanyKeys,
  takeKeysToWrite,
} from './name-keys.sql.ts';
import { writeGraph } from './write-graph.ts';

/** Those of some 200,000 companies; 24 bytes each while they are written. */
const KEYS_AT_ONCE = 4_000_000;

/** Of one build. */
export class KeysToWrite {
  /** By the first id of each part. */
  readonly #parts = new Map<number, readonly Keyed[]>();
  #keys = 0;

  /** Keeps the keys of companies that this transaction inserts, in the order of their ids. */
  async add(tx: Sql, companies: readonly Keyed[]): Promise<void> {
    const first = must(companies[0], 'a company').id;
    await noteKeysToWrite(tx, first, must(companies.at(-1), 'a company').id);
    this.#parts.set(first, companies);
    for (const { keys } of companies) this.#keys += keys.length;
  }

  isFull(): boolean {
    return this.#keys >= KEYS_AT_ONCE;
  }

  /** Writes all keys, also those that another process noted. */
  async write(sql: Database): Promise<void> {
    if (await hasKeysToWrite(sql)) await writeGraph(sql, (tx) => this.#writeNoted(tx));
    this.#parts.clear();
    this.#keys = 0;
  }

  async #writeNoted(tx: Sql): Promise<void> {
    const current: Keyed[] = [];
    for (const { firstId, lastId } of await takeKeysToWrite(tx)) {
      const part = this.#parts.get(firstId) ?? [];
      const ids = await listWithoutKeys(tx, firstId, lastId);
      if (ids === part.map(({ id }) => id).join()) current.push(...part);
      // One was deleted or got its keys with a new name, or the part is of a process that died.
      else await refreshCompanyKeys(tx, { fromId: firstId, toId: lastId });
    }
    await insertCompanyKeys(tx, current);
  }
}
