/** Reads records of one kind from a local copy, and from Postgres those about which the copy cannot know. */

import { CANDIDATES_MAX } from '../enrich/candidates-max.ts';
import { type HitList, openHits } from '../enrich/hits.ts';
import type { RecordBytes } from '../enrich/match-data.ts';
import type { Hits } from '../enrich/outcomes.ts';
import { must } from '../lib/assert.ts';
import type { ChangedRecords } from './changed-records.ts';
import type { RecordsReader } from './read-in-thread.ts';
import { furtherOf } from './record-block.ts';
import { HIT, PLACE } from './thread-messages.ts';

/** The text of a record that a look-up found, and where the block begins that holds it. */
export interface FoundRecord extends RecordBytes {
  at: number;
}

type LookUp = (values: readonly string[]) => Promise<Hits>;

/** Gives buffers of an answer the life of what is read. */
export type KeepBuffers = (buffers: ArrayBuffer[]) => Buffer[];

/**
 * The records of a copy in the state that `changed` has reached. `lookUpElsewhere` answers for values that more records
 * have than a look-up returns.
 */
export class CopiedRecords {
  readonly #copy: RecordsReader;
  readonly #changed: ChangedRecords;
  readonly #lookUpElsewhere: LookUp;
  readonly #keep: KeepBuffers;
  readonly #found = new Map<number, FoundRecord>();

  constructor(
    copy: RecordsReader,
    changed: ChangedRecords,
    lookUpElsewhere: LookUp,
    keep: KeepBuffers,
  ) {
    this.#copy = copy;
    this.#changed = changed;
    this.#lookUpElsewhere = lookUpElsewhere;
    this.#keep = keep;
  }

  /** Finds the records that have these canonical values, as `PeopleReader.lookUp`. */
  async lookUp(values: readonly string[]): Promise<Hits> {
    const all = openHits(values.length);
    if (values.length === 0) return all;
    const { hits, ids, crowded: more, buffers } = await this.#copy.lookUp(values);
    const texts = this.#keep(buffers);
    const crowded = [...more];
    const isCrowded = new Set(crowded);
    let hit = 0;
    for (const [line, value] of values.entries()) {
      if (isCrowded.has(line)) continue;
      const first = hit;
      while (hits[hit * HIT.length + HIT.line] === line) hit++;
      const holders = this.#changed.holdersOf(value);
      const several = hit - first + holders.length > 1 ? [...holders] : null;
      if (several === null) for (const { code, id } of holders) all.add(line, code, id);
      for (let index = first; index < hit; index++) {
        const id = ids[index] ?? 0;
        if (this.#changed.has(id)) continue;
        const code = hits[index * HIT.length + HIT.code] ?? 0;
        if (several === null) all.add(line, code, id);
        else several.push({ code, id });
        this.#found.set(id, foundAt(hits, index, texts));
      }
      if (several === null) continue;
      if (several.length >= CANDIDATES_MAX) crowded.push(line);
      else addInOrder(all, line, several);
    }
    if (crowded.length > 0) await this.#addCrowded(all, values, crowded);
    return all;
  }

  /**
   * Returns what `fromCopy` reads of the records that a look-up found, and what `elsewhere` reads of the others, in the
   * order of the ids.
   */
  async read<Read>(
    ids: readonly number[],
    fromCopy: (records: readonly FoundRecord[]) => Promise<Read[]>,
    elsewhere: (ids: readonly number[]) => Promise<Read[]>,
  ): Promise<Read[]> {
    // Decided before a statement: another part of this process may learn of changes meanwhile.
    const found = ids.map((id) => (this.#changed.has(id) ? undefined : this.#found.get(id)));
    const here = found.filter((record) => record !== undefined);
    const others = ids.filter((_, index) => found[index] === undefined);
    const [own, other] = await Promise.all([fromCopy(here), elsewhere(others)]);
    const next = { own: 0, other: 0 };
    return found.map((record) =>
      record === undefined ? (other[next.other++] as Read) : (own[next.own++] as Read),
    );
  }

  /** Reads further texts of records that a look-up found. */
  async readFurther(records: readonly FoundRecord[]): Promise<(RecordBytes | undefined)[]> {
    if (records.length === 0) return [];
    const places = new Float64Array(records.length * PLACE.length);
    for (const [index, { bytes, at }] of records.entries()) {
      const further = furtherOf(bytes, at);
      const place = index * PLACE.length;
      places[place + PLACE.at] = further.at;
      places[place + PLACE.bytes] = further.bytes;
      places[place + PLACE.crc32] = further.crc32;
    }
    const { texts, buffers } = await this.#copy.readFurther(places);
    const kept = this.#keep(buffers);
    return records.map((_, index) => textAt(texts, index, kept));
  }

  /**
   * Reads texts of records by id, which ascend, or with `further` their further texts; undefined for a record that
   * changed and for one that has none in the copy.
   */
  async readById(
    ids: readonly number[],
    { further }: { further: boolean },
  ): Promise<(RecordBytes | undefined)[]> {
    const here = ids.filter((id) => !this.#changed.has(id));
    if (here.length === 0) return ids.map(() => undefined);
    const { texts, buffers } = await this.#copy.readTexts(Float64Array.from(here), { further });
    const kept = this.#keep(buffers);
    let next = 0;
    return ids.map((id) => (here[next] === id ? textAt(texts, next++, kept) : undefined));
  }

  hasChanged(id: number): boolean {
    return this.#changed.has(id);
  }

  /** Adds what Postgres finds for the values of some lines. */
  async #addCrowded(
    hits: HitList,
    values: readonly string[],
    lines: readonly number[],
  ): Promise<void> {
    const found = await this.#lookUpElsewhere(lines.map((line) => values[line] ?? ''));
    for (const [index, line] of lines.entries()) {
      const own: { code: number; id: number }[] = [];
      found.forEach(index, (code, id) => own.push({ code, id }));
      addInOrder(hits, line, own);
    }
  }
}

/** Returns the text of a found record; undefined for none. */
export function textOf(record: FoundRecord): RecordBytes | undefined {
  return record.from === record.to ? undefined : record;
}

/** Adds hits in the order of Postgres. */
function addInOrder(all: HitList, line: number, found: { code: number; id: number }[]): void {
  found.sort((a, b) => a.code - b.code || a.id - b.id);
  for (const { code, id } of found) all.add(line, code, id);
}

/** The record of a hit, in one of the buffers that came with the hits. */
function foundAt(hits: Int32Array, index: number, texts: readonly Buffer[]): FoundRecord {
  const row = index * HIT.length;
  return {
    bytes: must(texts[hits[row + HIT.buffer] ?? -1], 'a buffer'),
    from: hits[row + HIT.from] ?? 0,
    to: hits[row + HIT.to] ?? 0,
    at: hits[row + HIT.at] ?? 0,
  };
}

/** The text of an answer's row; undefined for none. */
function textAt(
  texts: Int32Array,
  row: number,
  buffers: readonly Buffer[],
): RecordBytes | undefined {
  const from = texts[row * 3 + 1] ?? 0;
  const to = texts[row * 3 + 2] ?? 0;
  return from === to
    ? undefined
    : { bytes: must(buffers[texts[row * 3] ?? -1], 'a buffer'), from, to };
}
