/** Reads people from a local copy, and from Postgres those about whom the copy cannot know. */
import { openHits } from '../enrich/hits.ts';
import type { RecordBytes } from '../enrich/match-data.ts';
import { CANDIDATES_MAX, type Hits } from '../enrich/outcomes.ts';
import type { PeopleReader } from '../enrich/people-reader.ts';
import { must } from '../lib/assert.ts';
import type { ChangedPeople } from './changed-people.ts';
import { recordOf } from './person-block.ts';
import type { CopyReader } from './read-in-thread.ts';
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

  const readFull = async (people: readonly FoundPerson[]): Promise<(RecordBytes | undefined)[]> => {
    if (people.length === 0) return [];
    const places = new Float64Array(people.length * PLACE.length);
    for (const [index, { bytes, at }] of people.entries()) {
      const record = recordOf(bytes, at);
      const place = index * PLACE.length;
      places[place + PLACE.at] = record.at;
      places[place + PLACE.bytes] = record.bytes;
      places[place + PLACE.crc32] = record.crc32;
    }
    const { records, buffers } = await copy.readRecords(places);
    const texts = keep(buffers);
    return people.map((_, index) => {
      const [text = -1, from = 0, to = 0] = records.subarray(index * 3, index * 3 + 3);
      return from === to ? undefined : { bytes: must(texts[text], 'a buffer'), from, to };
    });
  };

  return {
    async lookUp(values) {
      const all = openHits(values.length);
      if (values.length === 0) return all;
      const { hits, ids, crowded: more, buffers } = await copy.lookUp(values);
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
          const row = index * HIT.length;
          all.add(line, hits[row + HIT.code] ?? 0, id);
          const bytes = must(texts[hits[row + HIT.buffer] ?? -1], 'a buffer');
          const from = hits[row + HIT.from] ?? 0;
          const to = hits[row + HIT.to] ?? 0;
          found.set(id, { bytes, from, to, at: hits[row + HIT.at] ?? 0 });
        }
        for (const { code, id } of holders) all.add(line, code, id);
      }
      if (crowded.length > 0) {
        const answer: Hits = await postgres.lookUp(crowded.map((line) => values[line] ?? ''));
        for (const [index, line] of crowded.entries()) {
          answer.forEach(index, (code, id) => all.add(line, code, id));
        }
      }
      return all;
    },

    async read(ids, { brief, keep: keepTexts }) {
      const people: (FoundPerson | undefined)[] = [];
      const elsewhere: number[] = [];
      // Decided before a statement: another part of this process may learn of changes meanwhile.
      for (const id of ids) {
        const person = changed.has(id) ? undefined : found.get(id);
        people.push(person);
        if (person === undefined) elsewhere.push(id);
      }
      const here = people.filter((person) => person !== undefined);
      const [others, own] = await Promise.all([
        postgres.read(elsewhere, { brief, keep: keepTexts }),
        brief ? here.map(briefOf) : readFull(here),
      ]);
      const next = { other: 0, own: 0 };
      return people.map((person) =>
        person === undefined ? others[next.other++] : own[next.own++],
      );
    },

    release() {
      copy.release(kept.splice(0));
      found.clear();
    },
  };
}

function briefOf(person: FoundPerson): RecordBytes | undefined {
  return person.from === person.to ? undefined : person;
}
