/** Damage at any place of any list: every line comes back as a row, and all lines but one intact. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

/** Cases of the property; 10,000 for a long night. */
const cases = 100;
const people = 9;
const COLUMNS = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(people) });
});
afterAll(() => pipeline.close());

const part = fc.constantFrom(
  'a',
  'Bob',
  ' ',
  'é',
  '漢字',
  '😀',
  '1',
  '-',
  '""',
  ',',
  ';',
  '|',
  '\t',
);
/** Text that does not begin with a delimiter: after a stray quote it would look like the end of the cell. */
const text = fc
  .array(part, { maxLength: 5 })
  .map((parts) => parts.join(''))
  .filter((note) => !/^"*[,;|\t]/.test(note));
const row = fc.record({
  before: text,
  after: text,
  isQuoted: fc.boolean(),
  person: fc.integer({ min: 0, max: people }),
});
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

const damagedList = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 8 }),
  delimiter: fc.constantFrom(',', ';', '|', '\t'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  isTerminated: fc.boolean(),
  hasMark: fc.boolean(),
  damage: fc.constantFrom([0x22], [0], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xff], [0x80]),
  /** The position of the damage, as a share of the file. */
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  chunkRows: fc.integer({ min: 1, max: 9 }),
});
type DamagedList = typeof damagedList extends fc.Arbitrary<infer Value> ? Value : never;

function writeCell(content: string, isQuoted: boolean, delimiter: string): string {
  return isQuoted || content.includes('"') || content.includes(delimiter)
    ? `"${content.replace(/"+/g, '""')}"`
    : content;
}

function writeRow({ before, after, isQuoted, person }: Row, delimiter: string): string {
  const email = person === 0 ? 'nobody@list.example' : `p${person}@list.example`;
  const cells = [before, email, after].map((cell) => writeCell(cell, isQuoted, delimiter));
  return cells.join(delimiter);
}

/** The original lines, the damaged file, and the index of the damaged line (0 is the header). */
function spoil(list: DamagedList): { lines: string[]; bytes: Buffer; damaged: number } {
  const { delimiter, newline } = list;
  const header = ['ref', 'email', 'note'].join(delimiter);
  const lines = [header, ...list.rows.map((each) => writeRow(each, delimiter))];
  const whole = Buffer.from(lines.join(newline) + (list.isTerminated ? newline : ''));
  let at = Math.floor(list.at * (whole.length + 1));
  // Between CR and LF it would make a separate line.
  if (whole[at] === 10 && whole[at - 1] === 13) at--;
  const before = whole.toString('latin1', 0, at);
  const damaged = before.split(newline).length - 1;
  // After the last line break it is a separate line.
  if (damaged === lines.length) lines.push('');
  const mark = Buffer.from(list.hasMark ? '\uFEFF' : '');
  const bytes = Buffer.concat([
    mark,
    whole.subarray(0, at),
    Buffer.from(list.damage),
    whole.subarray(at),
  ]);
  return { lines, bytes, damaged };
}

function expectedLine(list: DamagedList, line: string, index: number, width: number): string {
  const person = list.rows[index - 1]?.person ?? 0;
  const outcome =
    person === 0
      ? ['no_match', 'email', 'not_found', '', '0', '']
      : ['matched', 'email', '', 'false', '1', String(1000 + person)];
  // The damaged line may have split into more cells: the widest row sets the width.
  const padding = Array.from({ length: width - COLUMNS }, () => '');
  return [line, ...padding, ...outcome].join(list.delimiter);
}

async function check(caller: Caller, list: DamagedList): Promise<void> {
  const { lines, bytes, damaged } = spoil(list);
  const options = {
    operation: 'people.enrich',
    fields: 'id',
    mapping: '{"email":2}',
    delimiter: list.delimiter,
    header: 'true',
  };
  const response = await pipeline.call(caller, `/v1/batches?${new URLSearchParams(options)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
    body: new Uint8Array(bytes),
  });
  if (damaged === 0 && response.status !== 202) {
    const problem = await expectProblem(response, { status: 422, code: 'unreadable_csv' });
    expect(problem.errors[0]?.line).toBe(1);
    return;
  }
  const { id } = (await response.json()) as { id: string };
  const { context, queues } = pipeline;
  const config = { ...context.config, chunkRows: list.chunkRows };
  await queues.runUntilIdle({ ...context, config });
  const { text: result } = await pipeline.results(caller, id);
  const found = result.split(list.newline);
  expect(found.pop()).toBe('');
  expect(found).toHaveLength(lines.length);
  const [names = ''] = found;
  const width = names.split(`${list.delimiter}match.status`)[0]?.split(list.delimiter).length ?? 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || index === damaged) continue;
    expect(found[index]).toBe(expectedLine(list, line, index, width));
  }
  const [batch] = await pipeline.sql`select state, rows_total from batches where id = ${id}`;
  expect(batch).toEqual({ state: 'completed', rowsTotal: lines.length - 1 });
}

/** Beside damaged bytes, one or two letters beyond ASCII do not tell in which encoding they are. */
function isTelling({ rows }: DamagedList): boolean {
  const letters = rows.flatMap(
    ({ before, after }) => `${before}${after}`.match(/[^\0-\x7f]/gu) ?? [],
  );
  return letters.length === 0 || letters.length > 2;
}

test('affects only the row of its line', async () => {
  let caller = await pipeline.account(1_000_000);
  let uses = 0;
  await fc.assert(
    fc.asyncProperty(damagedList, async (list) => {
      fc.pre(isTelling(list));
      // The account's limit of calls per minute.
      if (++uses % 200 === 0) caller = await pipeline.account(1_000_000);
      await check(caller, list);
    }),
    { numRuns: cases },
  );
}, 3_600_000);
