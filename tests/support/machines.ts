/** Machines with a copy of one graph each, and the bucket in which they publish it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Database } from '../../src/core/db/client.ts';
import { buildCopy, rollForward } from '../../src/core/graph-copy/build-copy.ts';
import { type KeepOptions, openKeeper } from '../../src/core/graph-copy/copy-keeper.ts';
import { type LocalCopy, openLocalCopy } from '../../src/core/graph-copy/local-copy.ts';
import { readManifestText } from '../../src/core/graph-copy/manifest.ts';
import {
  PUBLISHED_PREFIX,
  withdrawPublished,
} from '../../src/core/graph-copy/published-objects.ts';
import { openSharing, type ShareOptions } from '../../src/core/graph-copy/share-copy.ts';
import { must } from '../../src/core/lib/assert.ts';
import type { Log } from '../../src/core/log.ts';
import type { ObjectStore } from '../../src/core/storage/object-store.ts';
import { openS3Store } from '../../src/core/storage/s3-store.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { importGraph } from './graph.ts';
import { type S3Server, startS3Server } from './s3-server.ts';
import { crowd } from './small-graph.ts';

/** A data folder, the copy in it, and what its workers do. */
export interface Machine {
  folder: string;
  copy: LocalCopy;
  /** Lines of its log. */
  said: string[];
  keep(options?: KeepOptions): Promise<boolean>;
  share(options?: ShareOptions): Promise<boolean>;
}

/** The numbers of the people of the graph. */
const everyone = Array.from({ length: 50 }, (_, index) => index + 1);
export const emailOf = (person: number) => `p${person}@list.example`;
export const idOf = (person: number) => 1000 + person;
/** The ids of all people, 0 for those who are gone. */
export const idsWithout = (...gone: number[]) =>
  everyone.map((one) => (gone.includes(one) ? 0 : idOf(one)));

/** Prepares the tests of a file: each has a graph of fifty people and a company, no machine, and nothing is published. */
export function useMachines() {
  let database: TestDatabase;
  let server: S3Server;
  let store: ObjectStore;
  let opened: Machine[];
  beforeAll(async () => {
    [database, server] = await Promise.all([createTestDatabase(), startS3Server()]);
    store = openS3Store(server.config);
    await importGraph(database.sql, { companies: [{ id: 10, name: 'Acme Ltd' }] });
  });
  afterAll(() => Promise.all([database.drop(), server.close()]));
  beforeEach(async () => {
    opened = [];
    await database.sql`truncate persons, person_identifiers, person_records, person_briefs, person_search,
      person_name_keys, keyed_persons, suppressed_identifiers, suppressed_persons`;
    await importGraph(database.sql, { persons: crowd(everyone.length) });
    await database.sql`analyze person_records`;
  });
  afterEach(async () => {
    for (const { copy, folder } of opened) {
      copy.close();
      await rm(folder, { recursive: true, force: true });
    }
    delete server.faults.answer;
    await withdrawPublished({ sql: database.sql, store });
  });

  const open = async (): Promise<Machine> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-machine-'));
    const said: string[] = [];
    const warn = (_fields: object, line: string) => void said.push(line);
    const log = { warn, info: () => {} } as unknown as Log;
    const copy = openLocalCopy(folder, log);
    const own = { sql: database.sql, store, localCopy: copy, log };
    const mayDo = { mayBuild: true, mayFetch: true };
    const machine = {
      ...{ folder, copy, said },
      keep: (options?: KeepOptions) => openKeeper(own, mayDo, { recordsMin: 10, ...options })(),
      share: (options?: ShareOptions) => openSharing(own, true, { recordsMin: 10, ...options })(),
    };
    opened.push(machine);
    return machine;
  };
  const publishedKeys = async () =>
    (await server.keys()).filter((key) => key.startsWith(PUBLISHED_PREFIX)).sort();
  return {
    get sql(): Database {
      return database.sql;
    },
    /** Of the database. */
    get url(): string {
      return database.url;
    },
    get store(): ObjectStore {
      return store;
    },
    get server(): S3Server {
      return server;
    },
    open,

    /** Opens a machine with a copy. */
    async openBuilder(): Promise<Machine> {
      const machine = await open();
      await buildCopy(database.sql, { folder: machine.folder });
      return machine;
    },

    /** Opens a machine that has built a copy and published it. */
    async openPublisher(): Promise<Machine> {
      const machine = await this.openBuilder();
      expect(await machine.share()).toBe(true);
      return machine;
    },

    async roll({ folder }: Machine): Promise<void> {
      const replaces = must(await readManifestText(folder), 'a manifest');
      await rollForward(database.sql, { folder, replaces, shareMax: 100 });
    },

    /** Writes people anew, so that they count as changed. */
    async touch(...people: number[]): Promise<void> {
      const ids = people.map(idOf);
      await database.sql`
        update person_briefs set brief = brief where id = any(${ids}::bigint[])`;
    },

    /** Makes the published copy, and the changes so far, older. */
    async age(minutes: number): Promise<void> {
      await database.sql`
        update published_copies set published_at = published_at - make_interval(mins => ${minutes})`;
      await database.sql`
        update graph_changes set changed_at = changed_at - make_interval(mins => ${minutes})`;
    },

    /** The ids that the copy of a machine finds for all addresses, 0 for none; null when it does not answer. */
    find({ copy }: Machine): Promise<number[] | null> {
      return copy.read(database.sql, async ({ people: reader, release }) => {
        const found = everyone.map(() => 0);
        const hits = await reader.lookUp(everyone.map(emailOf));
        for (const line of everyone.keys()) {
          hits.forEach(line, (_, id) => {
            found[line] = id;
          });
        }
        const ids = found.filter((id) => id > 0);
        await reader.readInOrder(ids, { brief: false });
        release();
        return found;
      });
    },

    publishedKeys,

    /** The keys of the published objects that have the address of a person. */
    async keysWith(person: number): Promise<string[]> {
      const found: string[] = [];
      for (const key of await publishedKeys()) {
        const bytes = await store.get(key, { from: 0, to: 2 ** 24 });
        if (bytes.includes(emailOf(person))) found.push(key);
      }
      return found;
    },
  };
}
