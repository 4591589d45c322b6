/** Shared by the tests of imports by calls: a pipeline, its operator, and the calls. */
import { expect } from 'vitest';
import { type Caller, openPipeline } from '../../../tests/support/pipeline.ts';
import type { viewRun } from '../../jobs/imports/import-run.ts';
import { runImports } from '../../jobs/imports/run-imports.ts';

export type Run = ReturnType<typeof viewRun>;
export type Importing = Awaited<ReturnType<typeof openImporting>>;

export const contactsHeader = 'Record ID,First Name,Last Name,Email,Unsubscribed from all email';
/** A person, an opt-out, and a row that is rejected. */
export const contacts = `${contactsHeader}\n1,Ada,Lark,ada@acme.example,\n2,Eve,Gone,eve@acme.example,true\n3,Too,Wide,wide@acme.example,,more\n`;

/** Opens a pipeline whose operator imports at most this many bytes. */
export async function openImporting(bytesMax: number) {
  const pipeline = await openPipeline({ IMPORT_BYTES_MAX: String(bytesMax) });
  const { accountId } = await pipeline.account(100);
  const operator = await operatorOf(accountId);

  /** An operator's key of an account. */
  async function operatorOf(id: string): Promise<Caller> {
    const caller = await pipeline.keyOf(id, 'live', ['admin']);
    await pipeline.sql`
      update api_keys set requests_per_minute = 1000000 where id = ${caller.keyId}`;
    return caller;
  }

  const json = async (path: string, caller = operator) =>
    (await pipeline.call(caller, path)).json();
  const work = () => runImports(pipeline.context);
  const read = async (id: string) => (await json(`/admin/import-runs/${id}`)) as Run;

  function post(path: string, body: unknown = undefined, caller = operator) {
    const headers = { 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    return pipeline.call(caller, path, { method: 'POST', ...init });
  }

  function upload(
    name: string,
    content: string | Buffer,
    { path = '/admin/import-runs', headers = {} } = {},
  ) {
    return pipeline.call(operator, `${path}?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/octet-stream', ...headers },
      body: new Uint8Array(Buffer.from(content)),
    });
  }

  /** Uploads a file and has it examined. */
  async function examined(name: string, content: string | Buffer): Promise<Run> {
    const response = await upload(name, content);
    const run = (await response.json()) as Run;
    expect(response.status, JSON.stringify(run)).toBe(202);
    expect(response.headers.get('location')).toBe(`/admin/import-runs/${run.id}`);
    await work();
    return read(run.id);
  }

  /** Imports that are not undone, the latest first. */
  async function done(): Promise<{ id: number }[]> {
    const { data } = (await json('/admin/imports')) as { data: { id: number; state: string }[] };
    return data.filter(({ state }) => state === 'done');
  }

  return {
    pipeline,
    operator,
    operatorOf,
    json,
    work,
    read,
    post,
    upload,
    examined,
    done,

    /** Uploads and imports a file. */
    async imported(name: string, content: string | Buffer): Promise<Run> {
      const { id } = await examined(name, content);
      expect((await post(`/admin/import-runs/${id}/start`)).status).toBe(202);
      await work();
      return read(id);
    },

    async countPeople(): Promise<number | undefined> {
      const [row] = await pipeline.sql<{ people: number }[]>`
        select count(*)::int as people from persons`;
      return row?.people;
    },

    /** Empties the graph and the store. */
    async reset(): Promise<void> {
      await pipeline.sql`delete from import_runs`;
      for (let all = await done(); all.length > 0; all = await done()) {
        await post(`/admin/imports/${all[0]?.id}/undo`, {});
        await work();
      }
      await pipeline.sql`delete from import_runs`;
      await pipeline.context.store.deletePrefix('imports/');
    },
  };
}
