/** A published copy loses people who withdrew and is of this history of the database; objects that do not count are deleted. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { emailOf, idOf, idsWithout, useMachines } from '../../../tests/support/machines.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { must } from '../lib/assert.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { suppress } from '../suppression/suppress.ts';
import { readGraphState } from './copy.sql.ts';
import { listCopyFiles } from './manifest.ts';
import { publishCopy } from './publish-copy.ts';
import {
  claimPublishing,
  countPublishedViolations,
  finishPublishing,
  readPublished,
  renewPublishing,
} from './published.sql.ts';
import { PUBLISHED_PREFIX, withdrawPublished } from './published-objects.ts';

const machines = useMachines();

describe('a person who withdrew', () => {
  const withdrawals: [string, (person: number) => Promise<unknown>][] = [
    ['was deleted', (person) => deletePersons(machines.sql, [idOf(person)])],
    ['opted out', (person) => suppress(machines.sql, emailOf(person))],
  ];

  test.each(withdrawals)(
    'and %s is overwritten in a fetched copy before it answers',
    async (_name, withdraw) => {
      await machines.openPublisher();
      await withdraw(7);
      const other = await machines.open();
      expect(await other.keep()).toBe(true);
      for (const file of await listCopyFiles(other.folder)) {
        expect((await readFile(file)).includes(emailOf(7)), file).toBe(false);
      }
      expect(
        must(await machines.find(other), 'an answer').filter((id) => id === 0).length,
      ).toBeLessThanOrEqual(1);
    },
  );

  test.each(withdrawals)(
    'and %s is replaced in the objects, of which the others stay',
    async (_name, withdraw) => {
      const publisher = await machines.openPublisher();
      const before = await machines.publishedKeys();
      const had = await machines.keysWith(7);
      expect(had).toHaveLength(2);
      await withdraw(7);
      expect(await publisher.share()).toBe(false);
      await machines.age(20);
      expect(await publisher.share()).toBe(true);
      expect(await machines.keysWith(7)).toEqual([]);
      const after = await machines.publishedKeys();
      expect(before.filter((key) => !after.includes(key))).toEqual(had);
      // It is not written again without need.
      await machines.age(20);
      expect(await publisher.share()).toBe(false);
      const other = await machines.open();
      expect(await other.keep()).toBe(true);
      expect(await machines.find(other)).toEqual(await machines.find(publisher));
      expect(publisher.said).toEqual([]);
    },
  );

  test('is deleted with the objects after forty minutes where the publisher is gone, which an audit asks for after an hour', async () => {
    await machines.openPublisher();
    await deletePersons(machines.sql, [idOf(7)]);
    const other = await machines.open();
    await machines.age(39);
    await other.share();
    expect(await machines.keysWith(7)).toHaveLength(2);
    const violations = async () =>
      (await countPublishedViolations(machines.sql)).map((check) => check.violations);
    expect(await violations()).toEqual([0]);
    await machines.age(22);
    expect(await violations()).toEqual([1]);
    await other.share();
    expect(await machines.publishedKeys()).toEqual([]);
    expect(await violations()).toEqual([0]);
  });

  test('while a copy is published ends that: no object has the person', async () => {
    const publisher = await machines.openPublisher();
    await machines.touch(3);
    await machines.roll(publisher);
    await machines.age(60);
    let puts = 0;
    machines.server.faults.answer = ({ method }) => {
      if (method === 'PUT') puts++;
      return undefined;
    };
    const begun = new Signal();
    const mayEnd = new Signal();
    const slow: ObjectStore = {
      ...machines.store,
      async put(key, bytes) {
        begun.raise();
        await mayEnd.raised;
        return machines.store.put(key, bytes);
      },
    };
    expect(await machines.find(publisher)).toEqual(idsWithout());
    const { text, reached } = publisher.copy.describe();
    const { id: replaces } = must(await readPublished(machines.sql), 'a published copy');
    const publishing = publishCopy(
      { sql: machines.sql, store: slow },
      {
        folder: publisher.folder,
        text: must(text, 'a copy'),
        wipedTo: must(reached, 'a state'),
        replaces,
      },
    );
    const ended = expect(publishing).rejects.toMatchObject({ code: 'publication_ended' });
    await begun.raised;
    await deletePersons(machines.sql, [idOf(7)]);
    const { number } = await readGraphState(machines.sql);
    await withdrawPublished({ sql: machines.sql, store: machines.store }, number);
    mayEnd.raise();
    await ended;
    expect(puts).toBe(1);
    // As an erasure does once no worker publishes.
    await withdrawPublished({ sql: machines.sql, store: machines.store }, number);
    expect(await machines.publishedKeys()).toEqual([]);
    // Nor is a copy published that has the person still.
    const { folder } = publisher;
    const stale = { folder, text: must(text, 'a copy'), wipedTo: number - 1, replaces: null };
    await expect(
      publishCopy({ sql: machines.sql, store: machines.store }, stale),
    ).rejects.toMatchObject({
      code: 'copy_is_published',
    });
    expect(await publisher.share()).toBe(true);
    expect([await machines.keysWith(7), (await machines.keysWith(8)).length]).toEqual([[], 2]);
  });
});

describe('objects', () => {
  test('of a worker that was killed while it published are deleted when its lease has expired', async () => {
    const publisher = await machines.openBuilder();
    const state = await readGraphState(machines.sql);
    const claim = { ...state, wipedTo: state.number, replaces: null };
    const { id } = must(await claimPublishing(machines.sql, claim), 'a lease');
    await machines.store.put(`${PUBLISHED_PREFIX}${id}/${'0'.repeat(64)}`, [Buffer.from('half')]);
    const late = `${PUBLISHED_PREFIX}00000000-0000-4000-8000-000000000000/${'1'.repeat(64)}`;
    await machines.store.put(late, [Buffer.from('late')]);
    expect(await publisher.share()).toBe(false);
    expect(await machines.publishedKeys()).toEqual([`${PUBLISHED_PREFIX}${id}/${'0'.repeat(64)}`]);
    await machines.sql`update published_copies set lease_expires_at = now()`;
    expect(await publisher.share()).toBe(true);
    expect((await machines.publishedKeys()).filter((key) => key.includes(id))).toEqual([]);
    expect(publisher.said).toEqual([]);
  });

  test.each([
    ['now', 'now()'],
    ['in a year, as after a clock that was set back', "now() + interval '1 year'"],
  ])(
    'are taken over from a worker whose lease ends %s, and which then ends',
    async (_name, moment) => {
      await machines.openBuilder();
      const state = await readGraphState(machines.sql);
      const claim = { ...state, wipedTo: state.number, replaces: null };
      const { id } = must(await claimPublishing(machines.sql, claim), 'a lease');
      expect(await claimPublishing(machines.sql, claim)).toBeNull();
      expect(await renewPublishing(machines.sql, id)).toBe(true);
      await machines.sql`update published_copies set lease_expires_at = ${machines.sql.unsafe(moment)}`;
      expect(await renewPublishing(machines.sql, id)).toBe(false);
      const next = must(await claimPublishing(machines.sql, claim), 'a lease');
      expect(next.id).not.toBe(id);
      expect(await renewPublishing(machines.sql, id)).toBe(false);
      expect(await finishPublishing(machines.sql, id, { manifest: '', bytes: 0, pieces: [] })).toBe(
        false,
      );
    },
  );

  test('of another history of the database are not fetched, and deleted', async () => {
    await machines.openPublisher();
    await machines.sql`update graph_changes set token = gen_random_uuid()`;
    const other = await machines.open();
    expect(await other.keep()).toBe(false);
    expect(await readdir(other.folder)).toEqual([]);
    await other.share();
    expect(await machines.publishedKeys()).toEqual([]);
    expect(other.said).toEqual([]);
  });

  test('of a graph in which too much has changed are not fetched, and deleted', async () => {
    await machines.openPublisher();
    await machines.sql`truncate person_search`;
    await machines.sql`truncate person_briefs`;
    const other = await machines.open();
    expect(await other.keep()).toBe(false);
    await other.share();
    expect(await machines.publishedKeys()).toEqual([]);
  });

  test('of a database that was restored, which names none, are deleted', async () => {
    await machines.openPublisher();
    await machines.sql`truncate published_copies`;
    const other = await machines.open();
    expect(await other.keep()).toBe(false);
    await other.share();
    expect(await machines.publishedKeys()).toEqual([]);
  });
});
