/** Lifetimes of processes, and the owners of processes and files. */
import { chown, cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endHeld,
  hold,
  holdReady,
  isGone,
  isRoot,
  modeOf,
  newDataDir,
  nobody,
  pathWithout,
  prepareServers,
  query,
  removeServers,
  root,
  settings,
  waitUntil,
} from '../../tests/support/held-postgres.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

beforeAll(prepareServers);
afterAll(removeServers);

describe('an abnormal end', () => {
  it.each([
    ['and the system sends the signal', []],
    ['and a shell sends the signal, where setpriv is missing', ['setpriv']],
  ])('of the parent ends the server %s; the next start finds all data', async (_how, missing) => {
    const dataDir = newDataDir();
    const env = missing.length === 0 ? process.env : await pathWithout(...missing);
    const { child, answer } = await holdReady(dataDir, { env });
    await query(answer.url, 'create table kept as select 42 as answer');
    child.kill('SIGKILL');
    // At once: the server is still shutting down, and the start waits for it.
    await using next = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(next.url).toBe(answer.url);
    expect(await isGone(answer.pid)).toBe(true);
  });

  it('of the parent leaves no server, even while clients are active', async () => {
    const { child, answer } = await holdReady(newDataDir());
    const client = postgres(answer.url, { max: 1 });
    const sleeping = client`select pg_sleep(60)`.catch((error: Error) => error);
    await waitUntil('the client is at work', 5_000, async () => {
      const rows = await query(
        answer.url,
        `select 1 from pg_stat_activity where query like 'select pg_sleep%'`,
      );
      return rows.length === 1;
    });
    await endHeld({ child, answer });
    expect(await sleeping).toBeInstanceOf(Error);
    await client.end({ timeout: 0 });
  });

  it('of the server is reported, and the next start recovers committed data', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await query(first.url, 'create table kept as select 42 as answer');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toContain('by signal SIGKILL');
    await first.stop();
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });
});

describe('users', () => {
  it.skipIf(!isRoot)('root: files stay root’s when only root may enter', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await modeOf(root, 'home')).toBe('700');
  });

  it.skipIf(!isRoot)('root without user namespaces: an unused user owns the files', async () => {
    const dataDir = path.join(root, 'open');
    await mkdir(dataDir, { mode: 0o755 });
    const { child, answer } = await holdReady(dataDir, { env: await pathWithout('unshare') });
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const { uid } = await stat(path.join(dataDir, 'postgres'));
    expect(uid).toBeGreaterThanOrEqual(62_000);
    await endHeld({ child, answer });
  });

  it.skipIf(!isRoot)(
    'root without user namespaces: files move to a place that the user can reach',
    async () => {
      const dataDir = newDataDir();
      const env = await pathWithout('unshare');
      const { child, answer, log } = await holdReady(dataDir, { env });
      const credentials = await readFile(path.join(dataDir, 'postgres-credentials.json'), 'utf8');
      const { dataFolder } = JSON.parse(credentials) as { dataFolder: string };
      try {
        expect(dataFolder).toMatch(/^\/var\/lib\/enrich\/postgres-[0-9a-f]{16}$/);
        expect(log()).toContain(`PostgreSQL's files are in ${dataFolder}`);
        expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
        await endHeld({ child, answer });

        // A copy of the data folder has no database of its own, and must not write to this one.
        const copy = newDataDir();
        await cp(dataDir, copy, { recursive: true });
        // Its process was killed: the copy is not torn, and is told so.
        await rm(path.join(copy, 'postgres.lock'));
        expect((await hold(copy, { env })).answer).toMatchObject({
          code: 'data_folder_copied',
          message: expect.stringContaining(`is a copy of ${dataDir}`),
        });
        // After it has replaced the original it is the data folder.
        await rm(dataDir, { recursive: true });
        const moved = await holdReady(copy, { env });
        expect(moved.answer.url).toBe(answer.url);
        await endHeld(moved);
      } finally {
        await rm(dataFolder, { recursive: true, maxRetries: 20 });
        await rm(`${dataFolder}.owner`, { force: true });
      }
    },
  );

  it.skipIf(!isRoot)(
    'an ordinary user: the library links are made, all files are his',
    async () => {
      const dataDir = path.join(root, 'nobody');
      await mkdir(dataDir, { mode: 0o700 });
      await chown(dataDir, nobody, nobody);
      const { child, answer } = await holdReady(dataDir, { uid: nobody, gid: nobody });
      expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(nobody);
      await endHeld({ child, answer });
    },
  );
});
