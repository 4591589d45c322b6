/** Reads people from a local copy, and from Postgres those about whom the copy cannot know. */
import { type HitList, openHits } from '../enrich/hits.ts';
import type { RecordBytes } from '../enrich/match-data.ts';
import { CANDIDATES_MAX } from '../enrich/outcomes.ts';
import type { PeopleReader } from '../enrich/people-reader.ts';
import { must } from '../lib/assert.ts';
import type { ChangedPeople } from './changed-people.ts';
import type { CopyReader } from './read-in-thread.ts';
import { furtherOf } from './record-block.ts';
import { HIT, PLACE } from './thread-messages.ts';

/** The brief record of a person whom a look-up found, and where the block begins that holds it. */
interface FoundPerson extends RecordBytes {
  at: number;
}

export interface CopiedPeople extends PeopleReader {
  /** Call when no record that was read is read any more. */
  release(): void;
}

/**
 * Reads the people of a copy in the state that `changed` has reached. `postgres` answers for changed people, and for
 * values that more people hold than a look-up returns.
 */
export function copiedPeople(
  copy: CopyReader,
  changed: ChangedPeople,
  postgres: PeopleReader,
): CopiedPeople {
  const kept: ArrayBuffer[] = [];
  const found = new Map<number, FoundPerson>();
  const keep = (buffers: ArrayBuffer[]) => {
    kept.push(...buffers);
    return buffers.map((buffer) => Buffer.from(buffer));
  };

  return {
    async lookUp(values) {
      const all = openHits(values.length);
      if (values.length === 0) return all;
      const { hits, ids, crowded: more, buffers } = await copy.people.lookUp(values);
      const texts = keep(buffers);
      const crowded = [...more];
      const isCrowded = new Set(crowded);
      let hit = 0;
      for (const [line, value] of values.entries()) {
        if (isCrowded.has(line)) continue;
        const holders = changed.holdersOf(value);
        const first = hit;
        let number = holders.length;
        for (; hits[hit * HIT.length + HIT.line] === line; hit++) {
          if (!changed.has(ids[hit] ?? 0)) number++;
        }
        if (number >= CANDIDATES_MAX) {
          crowded.push(line);
          continue;
        }
        for (let index = first; index < hit; index++) {
          const id = ids[index] ?? 0;
          if (changed.has(id)) continue;
          all.add(line, hits[index * HIT.length + HIT.code] ?? 0, id);
          found.set(id, personOf(hits, index, texts));
        }
        for (const { code, id } of holders) all.add(line, code, id);
      }
      if (crowded.length > 0) await addHits(all, values, crowded, postgres);
      return all;
    },

    async read(ids, { brief, keep: keepTexts }) {
      // Decided before a statement: another part of this process may learn of changes meanwhile.
      const people = ids.map((id) => (changed.has(id) ? undefined : found.get(id)));
      const elsewhere = ids.filter((_, index) => people[index] === undefined);
      const here = people.filter((person) => person !== undefined);
      const [others, own] = await Promise.all([
        postgres.read(elsewhere, { brief, keep: keepTexts }),
        brief ? here.map(briefOf) : readFull(copy, here, keep),
      ]);
      const next = { other: 0, own: 0 };
      return people.map((person) =>
        person === undefined ? others[next.other++] : own[next.own++],
      );
    },

    async readInOrder(ids, { brief }) {
      const here = ids.filter((id) => !changed.has(id));
      const { texts, buffers } = await copy.people.readTexts(Float64Array.from(here), {
        further: !brief,
      });
      const kept = keep(buffers);
      let next = 0;
      const own = ids.map((id) => (here[next] === id ? textAt(texts, next++, kept) : undefined));
      // Changed people, and those without a record: of them Postgres knows who opted out.
      const elsewhere = ids.filter((_, index) => own[index] === undefined);
      const others = await postgres.readInOrder(elsewhere, { brief });
      let other = 0;
      return own.map((record) => record ?? others[other++]);
    },

    release() {
      copy.release(kept.splice(0));
      found.clear();
    },
  };
}

/** Adds what Postgres finds for the values of some lines. */
async function addHits(
  hits: HitList,
  values: readonly string[],
  lines: readonly number[],
  postgres: PeopleReader,
): Promise<void> {
  const found = await postgres.lookUp(lines.map((line) => values[line] ?? ''));
  for (const [index, line] of lines.entries()) {
    found.forEach(index, (code, id) => hits.add(line, code, id));
  }
}

/** The person of a hit, in one of the buffers that came with the hits. */
function personOf(hits: Int32Array, index: number, texts: readonly Buffer[]): FoundPerson {
  const row = index * HIT.length;
  return {
    bytes: must(texts[hits[row + HIT.buffer] ?? -1], 'a buffer'),
    from: hits[row + HIT.from] ?? 0,
    to: hits[row + HIT.to] ?? 0,
    at: hits[row + HIT.at] ?? 0,
  };
}

/** Reads the whole records of people whom a look-up found. `keep` gives their bytes the life of the caller's. */
async function readFull(
  copy: CopyReader,
  people: readonly FoundPerson[],
  keep: (buffers: ArrayBuffer[]) => Buffer[],
): Promise<(RecordBytes | undefined)[]> {
  if (people.length === 0) return [];
  const places = new Float64Array(people.length * PLACE.length);
  for (const [index, { bytes, at }] of people.entries()) {
    const further = furtherOf(bytes, at);
    const place = index * PLACE.length;
    places[place + PLACE.at] = further.at;
    places[place + PLACE.bytes] = further.bytes;
    places[place + PLACE.crc32] = further.crc32;
  }
  const { texts, buffers } = await copy.people.readFurther(places);
  const kept = keep(buffers);
  return people.map((_, index) => textAt(texts, index, kept));
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

function briefOf(person: FoundPerson): RecordBytes | undefined {
  return person.from === person.to ? undefined : person;
}
