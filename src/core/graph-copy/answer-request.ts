/** Answers requests from the files of a copy. */
import { must } from '../lib/assert.ts';
import { copyInto } from '../lib/wider-numbers.ts';
import type { OpenCopy } from './open-copy.ts';
import { type OpenRecords, ReadBuffers } from './open-records.ts';
import { furtherOf, idOf, textFrom, textTo } from './record-block.ts';
import {
  type Answer,
  HIT,
  type LookUpAnswer,
  PLACE,
  type Request,
  type TextsAnswer,
  type TextsRequest,
} from './thread-messages.ts';

function lookUp(records: OpenRecords, id: number, lines: string): LookUpAnswer {
  const buffers = new ReadBuffers();
  const crowded: number[] = [];
  const values = lines.split('\n');
  let hits = new Int32Array(values.length * HIT.length);
  let ids = new Float64Array(values.length);
  let count = 0;
  let line = 0;
  const addHit = (code: number, block: Buffer, at: number) => {
    if (count === ids.length) {
      hits = copyInto(new Int32Array(hits.length * 2), hits);
      ids = copyInto(new Float64Array(ids.length * 2), ids);
    }
    const hit = count * HIT.length;
    hits[hit + HIT.line] = line;
    hits[hit + HIT.code] = code;
    hits[hit + HIT.buffer] = buffers.last;
    hits[hit + HIT.at] = at;
    hits[hit + HIT.from] = textFrom(block, at);
    hits[hit + HIT.to] = textTo(block, at);
    ids[count++] = idOf(block, at);
  };
  for (; line < values.length; line++) {
    const before = count;
    if (records.find(values[line] ?? '', buffers, addHit)) continue;
    crowded.push(line);
    count = before;
  }
  return {
    id,
    hits: hits.subarray(0, count * HIT.length),
    ids: ids.subarray(0, count),
    crowded: Int32Array.from(crowded),
    buffers: buffers.take(),
  };
}

/** Reads the further texts at these places; an empty one for a record without. */
function readFurther(records: OpenRecords, id: number, places: Float64Array): TextsAnswer {
  const buffers = new ReadBuffers();
  const texts: number[] = [];
  for (let place = 0; place < places.length; place += PLACE.length) {
    const at = must(places[place + PLACE.at], 'a place');
    const bytes = must(places[place + PLACE.bytes], 'a length');
    const sum = must(places[place + PLACE.crc32], 'a checksum');
    const from = records.readFurther({ at, bytes, crc32: sum }, buffers);
    texts.push(buffers.last, from, from + bytes);
  }
  return { id, texts: Int32Array.from(texts), buffers: buffers.take() };
}

/** Reads texts of records by their ids. */
function readTexts(records: OpenRecords, { id, ids, further }: TextsRequest): TextsAnswer {
  const buffers = new ReadBuffers();
  const texts = new Int32Array(ids.length * 3);
  records.forEach(ids, (index, block, at) => {
    const place = furtherOf(block, at);
    const bytes = further ? place.bytes : textTo(block, at) - textFrom(block, at);
    const from = further
      ? records.readFurther(place, buffers)
      : keepText(buffers, block, at, bytes);
    texts.set([buffers.last, from, from + bytes], index * 3);
  });
  return { id, texts, buffers: buffers.take() };
}

/** Copies the text of a block into the buffers. Returns where it begins in the last one. */
function keepText(buffers: ReadBuffers, block: Buffer, at: number, bytes: number): number {
  const buffer = buffers.room(bytes);
  const to = buffers.at;
  const from = textFrom(block, at);
  block.copy(buffer, to, from, from + bytes);
  buffers.keep(bytes);
  return to;
}

/** Throws as `OpenRecords`. */
export function answerRequest(
  copy: OpenCopy,
  request: Exclude<Request, { used: unknown }>,
): Answer {
  const records = copy[request.entity];
  if ('lines' in request) return lookUp(records, request.id, request.lines);
  if ('ids' in request) return readTexts(records, request);
  return readFurther(records, request.id, request.places);
}
