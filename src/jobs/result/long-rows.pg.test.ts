/** Rows of a result that are longer than a record of a list may be: their own text, their answer or both together. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { RECORD_BYTES_MAX } from '../../formats/csv/record-reader.ts';
import { auditParts } from '../audit/audit-parts.ts';

/** With a line inside: read as broken, it would become several rows. */
const note = `a\n${'b'.repeat(RECORD_BYTES_MAX - 30)}`;
/** As long as a record may be, and longer when its quotes are written as they are in quotes. */
const quotes = `x${'"'.repeat(RECORD_BYTES_MAX - 30)}`;
const list = [
  'email,note',
  `p1@list.example,"${note}"`,
  'p2@list.example,short',
  `"open${'c'.repeat(RECORD_BYTES_MAX)}`,
  'p3@list.example,short',
  `none@list.example,${quotes}`,
  'none@list.example,last',
  '',
].join('\n');

let pipeline: Pipeline;
let caller: Caller;
let id: string;
beforeAll(async () => {
  pipeline = await openPipeline();
  const [first = {}, ...others] = crowd(3);
  const summary = `s\n${'"'.repeat(RECORD_BYTES_MAX)}`;
  await importGraph(pipeline.sql, { persons: [first, { ...others[0], summary }, others[1] ?? {}] });
  caller = await pipeline.account(100);
  const options = { operation: 'people.enrich', fields: 'id,summary', mapping: '{"email":1}' };
  id = await pipeline.enrich(caller, list, options);
});
afterAll(() => pipeline.close());

interface Row {
  row: number;
  input: Record<string, string>;
  match: { status: string };
  person: { id: number; summary: string | null } | null;
}

async function rows(of = id): Promise<Row[]> {
  const response = await pipeline.call(caller, `/v1/batches/${of}/results?format=jsonl`);
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

const outcomes = (found: readonly Row[]) =>
  found.map(({ row, match, person }) => [row, match.status, person?.id ?? null]);

test('cannot be run again, and the refusal says so', async () => {
  const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['invalid'] }),
  });
  const problem = await expectProblem(response, { status: 422, code: 'no_rows' });
  expect(problem.detail).toContain(`more than ${RECORD_BYTES_MAX} bytes`);
});

test('are read cell by cell, as short ones', async () => {
  const found = await rows();
  expect(outcomes(found)).toEqual([
    [1, 'matched', 1001],
    [2, 'matched', 1002],
    [3, 'invalid', null],
    [4, 'matched', 1003],
    [5, 'no_match', null],
    [6, 'no_match', null],
  ]);
  expect(found[0]?.input).toEqual({ email: 'p1@list.example', note });
  expect(found[1]?.person?.summary).toHaveLength(RECORD_BYTES_MAX + 2);
});

test('pass the deep audit', async () => {
  const { checks } = await auditParts(pipeline.context);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
});

test('are run again, each as one row, unless they were too long for a list', async () => {
  const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['no_match', 'invalid'] }),
  });
  expect(response.status).toBe(202);
  await pipeline.runUntilIdle();
  const { id: rerun } = (await response.json()) as { id: string };
  expect(outcomes(await rows(rerun))).toEqual([
    [5, 'no_match', null],
    [6, 'no_match', null],
  ]);
});

test('lose the people who opt out, and only those', async () => {
  await suppress(pipeline.sql, 'p1@list.example');
  await suppress(pipeline.sql, 'p2@list.example');
  const found = await rows();
  expect(outcomes(found)).toEqual([
    [1, 'suppressed', null],
    [2, 'suppressed', null],
    [3, 'invalid', null],
    [4, 'matched', 1003],
    [5, 'no_match', null],
    [6, 'no_match', null],
  ]);
  const csv = await pipeline.call(caller, `/v1/batches/${id}/results`);
  expect(await csv.text()).not.toContain('1001');
});
