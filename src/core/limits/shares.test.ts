import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openShare, type ShareLimits } from './shares.ts';

const limits: ShareLimits = {
  name: 'searches',
  inFlightMax: 2,
  accountInFlightMax: 2,
  accountWaitingMax: 3,
  waitMsMax: 60_000,
};
const open = new AbortController().signal;

/** Work that ends on command, and the order in which it was started. */
function openWork() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    started.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { started, work, end: (name: string) => ends.get(name)?.() };
}

/** Leaves work without waiting for it: what still waits at the end of its test is refused a minute later. */
const leave = (result: Promise<string>) => void result.catch(() => {});

/** Runs all resolved callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a share', () => {
  test('serves accounts round-robin, regardless of who queued first', async () => {
    const share = openShare({ ...limits, inFlightMax: 1 });
    const { started, work, end } = openWork();
    const names = ['a1', 'a2', 'a3', 'b1', 'b2'];
    const results = names.map((name) => share(name.slice(0, 1), open, work(name)));
    for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) {
      await settled();
      expect(started.at(-1)).toBe(name);
      end(name);
    }
    expect(await Promise.all(results)).toEqual(names);
  });

  test('serves an account with several calls also while others come back with one at a time', async () => {
    const share = openShare({ ...limits, inFlightMax: 1 });
    const { started, work, end } = openWork();
    const ask = async (name: string) => {
      leave(share(name.slice(0, 1), open, work(name)));
      await settled();
    };
    const finish = async (name: string) => {
      end(name);
      await settled();
    };
    for (const name of ['v1', 'v2', 'a1']) await ask(name);
    await finish('v1');
    await ask('b1');
    await finish('a1');
    await ask('a2');
    await finish('b1');
    expect(started).toEqual(['v1', 'a1', 'b1', 'v2']);
  });

  test('serves short work of an account after one long work of others, not after one of each', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const share = openShare({ ...limits, inFlightMax: 1 });
    const { started, work, end } = openWork();
    const ask = async (name: string) => {
      leave(share(name.slice(0, 1), open, work(name)));
      await settled();
    };
    const finish = async (name: string, seconds: number) => {
      vi.advanceTimersByTime(seconds * 1000);
      end(name);
      await settled();
    };
    for (const name of ['v1', 'a1', 'b1']) await ask(name);
    await finish('v1', 0);
    for (const name of ['a2', 'v2']) await ask(name);
    await finish('a1', 20);
    await ask('b2');
    await finish('b1', 20);
    await finish('v2', 0);
    await ask('v3');
    await finish('a2', 20);
    expect(started).toEqual(['v1', 'a1', 'b1', 'v2', 'a2', 'v3']);
    await finish('v3', 0);
    await finish('b2', 20);
    // They have no work, and come back: it does not make them new.
    await ask('a3');
    await ask('b3');
    await ask('v4');
    await finish('a3', 0);
    expect(started.slice(-3)).toEqual(['b2', 'a3', 'v4']);
  });

  test('leaves room for others while one account has its maximum in flight', async () => {
    const share = openShare({ ...limits, accountInFlightMax: 1 });
    const { started, work } = openWork();
    leave(share('a', open, work('a1')));
    leave(share('a', open, work('a2')));
    leave(share('b', open, work('b1')));
    await settled();
    expect(started).toEqual(['a1', 'b1']);
  });

  test('refuses one more than an account may have waiting, and names the bound', async () => {
    const share = openShare(limits);
    const { work, end, started } = openWork();
    const taken = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => share('a', open, work(name)));
    await expect(share('a', open, work('a6'))).rejects.toMatchObject({
      status: 429,
      code: 'rate_limited',
      message: expect.stringContaining('5 for searches'),
      extensions: { retry_after: expect.any(Number) },
    });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) {
      await settled();
      end(name);
    }
    await Promise.all(taken);
    expect(started).toHaveLength(5);
  });

  test('counts waiting work also while another account holds the only slot', async () => {
    const share = openShare({ ...limits, inFlightMax: 1, accountInFlightMax: 1 });
    const { work } = openWork();
    leave(share('a', open, work('a1')));
    for (const name of ['b1', 'b2', 'b3', 'b4']) leave(share('b', open, work(name)));
    await expect(share('b', open, work('b5'))).rejects.toMatchObject({ status: 429 });
  });

  test('does not start work whose caller has gone', async () => {
    const share = openShare({ ...limits, inFlightMax: 1 });
    const { started, work, end } = openWork();
    const gone = new AbortController();
    const first = share('a', open, work('a1'));
    const second = share('a', gone.signal, work('a2'));
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    await expect(share('a', gone.signal, work('a3'))).rejects.toThrow('gone');
    end('a1');
    await first;
    await settled();
    expect(started).toEqual(['a1']);
  });

  test('refuses work that waited too long, and does not disturb running work', async () => {
    const share = openShare({ ...limits, inFlightMax: 1, waitMsMax: 5 });
    const { work, end } = openWork();
    const first = share('a', open, work('a1'));
    await expect(share('b', open, work('b1'))).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
    });
    end('a1');
    expect(await first).toBe('a1');
  });

  test('frees the slot of work that throws', async () => {
    const share = openShare({ ...limits, inFlightMax: 1 });
    const failing = () => {
      throw new Error('broken');
    };
    await expect(share('a', open, failing)).rejects.toThrow('broken');
    expect(await share('a', open, async () => 'next')).toBe('next');
  });
});
