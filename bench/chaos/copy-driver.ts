/**
 * Harms a local copy of the graph while lists are matched from it: builds it again and again, rolls it forward, whole or not to
 * the end, changes and cuts its files, leaves half a build, holds the lock of its folder, publishes it, removes and changes
 * published objects, and fetches it in place of its own. Meanwhile an address passes from one person to another and back. A list
 * that is uploaded, and a single call that is made, after a pass names the person who holds the address now, and is charged once.
 * A person who is erased goes from all files and objects.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { deletePersons } from '../../src/core/graph/delete-persons.ts';
import { importRecords } from '../../src/core/graph/sources/import-records.ts';
import { buildCopy, rollForward } from '../../src/core/graph-copy/build-copy.ts';
import { lockBuild, readGraphState } from '../../src/core/graph-copy/copy.sql.ts';
import { placeOf } from '../../src/core/graph-copy/copy-folder.ts';
import { fetchCopy } from '../../src/core/graph-copy/fetch-copy.ts';
import {
  copyFolder,
  dropCopies,
  fileName,
  lastLayer,
  listCopyFiles,
  parseManifest,
  readManifestText,
  UnusableCopy,
} from '../../src/core/graph-copy/manifest.ts';
import { publishCopy } from '../../src/core/graph-copy/publish-copy.ts';
import { readPublished } from '../../src/core/graph-copy/published.sql.ts';
import {
  PUBLISHED_PREFIX,
  withdrawPublished,
} from '../../src/core/graph-copy/published-objects.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { operations } from '../../src/core/operations.ts';
import type { Account } from './accounts.ts';
import type { ApiCaller } from './api-caller.ts';
import { passAddress } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import { readRows } from './check-lists.ts';
import type { CallsMade } from './check-money.ts';
import type { History } from './history.ts';
import { batchOf, hasEnded, uploadForm } from './lists.ts';
import type { Random } from './random.ts';

const LOOK_AGAIN_MS = 300;
/** Longer than any fault and its repair. */
const WAIT_MS_MAX = 120_000;
/** Ids that the generated graph does not have. Added after the lists are made: leads are drawn from all ids. */
const HOLDERS = [1_000_001, 1_000_002] as const;
const ADDRESS = 'passed@chaos.example';

const harms = [
  'build',
  'roll',
  'stop',
  'hold',
  'erase',
  'change',
  'cut',
  'half',
  'publish',
  'fetch',
  'lose object',
  'change object',
  'none',
] as const;
type Harm = (typeof harms)[number];

/** The response to a call that matches. */
interface CalledPerson {
  data: { id: number };
  meta: { request_id: string };
}
/** A build comes before anything that needs one, so half of the harms are builds. */
const drawn: readonly Harm[] = ['build', 'build', 'build', 'roll', ...harms];
/** Times that the address passes between two lists, and single calls after each. */
const TURNS = 15;
const CALLS = 3;
/** Longer than any published object. */
const OBJECT_BYTES_MAX = 2 ** 24;
/** Longer than a list takes. */
const HOLD_MS = 5_000;

export class CopyDriver {
  readonly #stack: ChaosStack;
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #folder: string;
  readonly account: Account;
  readonly harmed: Partial<Record<Harm, number>> = {};
  #erased = 0;
  /** Of the address; not all of them have a response. */
  readonly calls: CallsMade;
  /** Credits that the lists must have been charged. */
  spent = 0;

  constructor(
    stack: ChaosStack,
    api: ApiCaller,
    history: History,
    random: Random,
    account: Account,
    caller: Account,
  ) {
    this.#stack = stack;
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.#folder = copyFolder(path.join(history.folder, 'data'));
    this.account = account;
    this.calls = { account: caller, matched: new Map(), hasKeys: false, unknown: 0 };
  }

  /** Harms the copy once between two lists, until `signal` aborts. */
  async drive(signal: AbortSignal): Promise<void> {
    await this.#addHolders();
    let harm: Harm = 'build';
    for (let pass = 1; !signal.aborted || pass === 1; pass++) {
      await this.#harm(harm);
      // So workers and APIs have opened the copy before the address passes.
      await this.#checkHolder(HOLDERS[(pass - 1) % 2] ?? 0);
      // An odd number, so that it ends with the other holder.
      for (let turn = 0; turn < TURNS; turn++) {
        const next = HOLDERS[(pass + turn) % 2] ?? 0;
        await this.#stack.ask((sql) => passAddress(sql, ADDRESS, next));
        await this.#checkCalls(next);
      }
      await this.#checkHolder(HOLDERS[pass % 2] ?? 0);
      harm = this.#random.pick(drawn);
    }
  }

  async #addHolders(): Promise<void> {
    await this.#add(
      HOLDERS.map((id, index) => ({ id, email: index === 0 ? ADDRESS : 'other@chaos.example' })),
    );
  }

  async #add(people: { id: number; email: string }[]): Promise<void> {
    const lines = people.map((person) => JSON.stringify(person));
    await this.#stack.ask((sql) =>
      importRecords(sql, {
        entity: 'persons',
        input: Readable.from([`${lines.join('\n')}\n`], { objectMode: false }),
        format: 'jsonl',
        rejects: new Writable({ write: (_chunk, _encoding, done) => done() }),
        importedAt: new Date(),
      }),
    );
  }

  async #harm(harm: Harm): Promise<void> {
    this.harmed[harm] = (this.harmed[harm] ?? 0) + 1;
    this.#history.note('harm of the copy', { harm });
    if (harm === 'build') await this.#build();
    else if (harm === 'roll') await this.#roll(() => {});
    else if (harm === 'stop') await this.#roll(stop);
    else if (harm === 'hold') await this.#hold();
    else if (harm === 'erase') await this.#erase();
    else if (harm === 'publish') await this.#publish();
    else if (harm === 'fetch') await this.#fetch();
    else if (harm === 'lose object' || harm === 'change object') {
      await this.#publish();
      await this.#damageObject(harm);
      await this.#fetch();
    } else if (harm === 'half') {
      const half = path.join(this.#folder, `build-${randomUUID()}`);
      await mkdir(half, { recursive: true });
      await writeFile(path.join(half, fileName('people', 'blocks')), 'half');
    } else if (harm !== 'none') {
      const files = await listCopyFiles(this.#folder);
      // It may have been dropped, before this or meanwhile.
      if (files.length > 0) await this.#damage(this.#random.pick(files), harm).catch(() => {});
    }
  }

  async #build(): Promise<void> {
    await this.#stack.ask((sql) => buildCopy(sql, { folder: this.#folder }).catch(ifBuilding));
  }

  async #roll(onProgress: () => void): Promise<void> {
    const replaces = await readManifestText(this.#folder);
    if (replaces === null) return;
    const options = { folder: this.#folder, replaces, shareMax: 1, onProgress };
    await this.#stack.ask((sql) => rollForward(sql, options).catch(ifBuilding));
  }

  /** Publishes the copy, if there is one, as a worker does. */
  async #publish(): Promise<void> {
    const { store } = this.#stack;
    await this.#stack.ask(async (sql) => {
      const text = await readManifestText(this.#folder);
      if (text === null) return;
      const replaces = (await readPublished(sql))?.id ?? null;
      const { number: wipedTo } = lastLayer(parseManifest(text));
      const options = { folder: this.#folder, text, wipedTo, replaces };
      await publishCopy({ sql, store }, options).catch(ifBuilding);
    });
  }

  /** Takes the published copy, if there is one, in place of the present one. */
  async #fetch(): Promise<void> {
    const { store } = this.#stack;
    await this.#stack.ask(async (sql) => {
      const published = await readPublished(sql);
      if (!published?.isReachable) return;
      await dropCopies(this.#folder);
      await fetchCopy({ sql, store }, published, { folder: this.#folder }).catch(ifBuilding);
    });
  }

  async #publishedKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of this.#stack.store.list(PUBLISHED_PREFIX)) keys.push(key);
    return keys;
  }

  async #damageObject(harm: 'lose object' | 'change object'): Promise<void> {
    const { store } = this.#stack;
    const keys = await this.#publishedKeys();
    if (keys.length === 0) return;
    const key = this.#random.pick(keys);
    if (harm === 'lose object') return store.delete(key);
    const bytes = await store.get(key, { from: 0, to: OBJECT_BYTES_MAX });
    const at = this.#random.between(0, bytes.length - 1);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await store.put(key, [bytes]);
  }

  /** Holds the lock of the folder's writers while the address passes: no process may wipe, build or roll forward. */
  async #hold(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const place = await placeOf(this.#folder);
    const begun = new AbortController();
    const held = this.#stack.ask((sql) =>
      sql.begin(async (tx) => {
        await lockBuild(tx as never, place);
        begun.abort();
        await delay(HOLD_MS);
      }),
    );
    // It may end with its server.
    void held.catch(() => {});
    await delay(WAIT_MS_MAX, undefined, { signal: begun.signal }).catch(() => {});
  }

  /** Deletes a person whom a copy has: no file has the address soon. */
  async #erase(): Promise<void> {
    this.#erased++;
    const id = 1_000_100 + this.#erased;
    const email = `erased-${this.#erased}@chaos.example`;
    await this.#add([{ id, email }]);
    await this.#build();
    await this.#publish();
    const { store } = this.#stack;
    await this.#stack.ask((sql) => deletePersons(sql, [id]));
    // As `erasePerson` does.
    await this.#stack.ask(async (sql) =>
      withdrawPublished({ sql, store }, (await readGraphState(sql)).number),
    );
    const deadline = Date.now() + WAIT_MS_MAX;
    while (await this.#isCopied(email)) {
      if (Date.now() > deadline) {
        return this.#history.violate('no copy keeps an erased person', { id });
      }
      await delay(LOOK_AGAIN_MS);
    }
  }

  async #isCopied(text: string): Promise<boolean> {
    for (const file of await listCopyFiles(this.#folder)) {
      const bytes = await readFile(file).catch(() => null);
      if (bytes?.includes(text)) return true;
    }
    for (const key of await this.#publishedKeys()) {
      const bytes = await this.#stack.store.get(key, { from: 0, to: OBJECT_BYTES_MAX });
      if (bytes.includes(text)) return true;
    }
    return false;
  }

  async #damage(file: string, harm: 'change' | 'cut'): Promise<void> {
    const handle = await open(file, 'r+');
    try {
      const { size } = await handle.stat();
      const at = this.#random.between(0, Math.max(0, size - 1));
      if (harm === 'cut') return await truncate(file, at);
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, at);
      byte[0] = (byte[0] ?? 0) ^ 1;
      await handle.write(byte, 0, 1, at);
    } finally {
      await handle.close();
    }
  }

  /** Calls for the address, some times, on any API. */
  async #checkCalls(holder: number): Promise<void> {
    const { account, matched } = this.calls;
    const query = { email: ADDRESS, fields: 'id' };
    const call = { key: account.key, route: 'get /v1/people/enrich', query };
    for (let count = 0; count < CALLS; count++) {
      const answer = await this.#api.until(call, (tried) => {
        if (tried === undefined || tried.status === 503) this.calls.unknown++;
      });
      const { data, meta } = (answer?.json ?? {}) as Partial<CalledPerson>;
      if (meta !== undefined) matched.set(meta.request_id, operations['people.enrich'].price);
      if (data?.id !== holder) {
        this.#history.violate('a call names who holds an address now', { holder, data });
      }
    }
  }

  /** Runs a list of the address. */
  async #checkHolder(holder: number): Promise<void> {
    const { key } = this.account;
    const fields = { operation: 'people.enrich', fields: 'id' };
    const accepted = await this.#api.until({
      key,
      route: 'post /v1/batches',
      idempotencyKey: randomUUID(),
      body: () => uploadForm(`email\n${ADDRESS}\n`, fields),
    });
    const { id } = batchOf(accepted);
    const deadline = Date.now() + WAIT_MS_MAX;
    let batch = batchOf(accepted);
    while (!hasEnded(batch)) {
      if (Date.now() > deadline) throw new Error(`list ${id} stays ${batch.state}`);
      await delay(LOOK_AGAIN_MS);
      batch = batchOf(await this.#api.until({ key, route: 'get /v1/batches/{id}', id }));
    }
    const answer = await this.#api.until({ key, route: 'get /v1/batches/{id}/results', id });
    const [, row] = readRows(answer?.bytes ?? Buffer.alloc(0));
    const { price } = operations['people.enrich'];
    this.spent += price;
    const found = row?.raw.split(',').at(-1);
    if (found !== String(holder) || batch.credits.charged !== price) {
      const about = { id, found, holder, charged: batch.credits.charged };
      this.#history.violate('a list names who holds an address now', about);
    }
  }
}

/** Ends a roll forward in the middle. */
function stop(): void {
  throw new UnusableCopy('stopped in the middle');
}

/** Another process may look after the copy or the published one, or have found it damaged. */
function ifBuilding(error: unknown): void {
  if (error instanceof UnusableCopy) return;
  const isOther =
    error instanceof AppError &&
    ['copy_is_built', 'copy_is_published', 'publication_ended'].includes(error.code);
  // Its files may be deleted while they are opened.
  if (!isOther && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
