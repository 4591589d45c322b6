/** The effect on other accounts of an account whose searches all run into the timeout. */
import { assert } from '../src/core/lib/assert.ts';
import { listEmails } from './bench.sql.ts';
import { type BenchStack, createBenchKey } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { askChild } from './child.ts';
import type { Latencies, OpenLoop } from './open-loop.ts';

/** Two keys with the default of 60 requests a minute, all sent at once. */
const AT_ONCE = 120;
const SECONDS = 10;
/** Every person's text is folded and compared with a hundred others. */
const slow = Array.from({ length: 100 }, (_, index) => `senior w${index}`).join('|');

/** Measures previews and single calls of another account during endless slow previews. */
export async function measureBesideSearches(
  stack: BenchStack,
  say: (line: string) => void,
): Promise<BenchResult[]> {
  const [greedy, other] = [await createBenchKey(stack.sql), await createBenchKey(stack.sql)];
  const [email = ''] = await listEmails(stack.sql, 1);
  const attack = keepSearching(stack.url, greedy);
  try {
    const results: BenchResult[] = [];
    for (const { name, path, perSecond, p99Ms } of [
      {
        name: 'previews',
        path: '/personsearch/preview?positionIds=111',
        perSecond: 5,
        p99Ms: 1_000,
      },
      {
        name: 'calls',
        path: `/v1/people/enrich?email=${encodeURIComponent(email)}`,
        perSecond: 20,
        p99Ms: 1_000,
      },
    ]) {
      const latencies = await askChild<Latencies>('bench/open-loop-process.js', {
        addresses: [stack.url + path],
        headers: [{ Authorization: `Bearer ${other}` }],
        perSecond,
        seconds: SECONDS,
      } satisfies OpenLoop);
      say(`  ${name} beside slow searches: ${JSON.stringify(latencies)}`);
      assert(latencies.failed === 0, `${latencies.failed} ${name} were not answered with 200`);
      results.push({
        name: `load-${name}-beside-searches-p99`,
        unit: 'ms',
        ours: latencies.p99,
        reference: p99Ms,
        against: `${p99Ms} ms for 99 of 100, while another account has ${AT_ONCE} slow previews open`,
        better: 'lower',
        goal: 1,
        details: { ...latencies },
        runs: [],
      });
    }
    return results;
  } finally {
    await attack.stop();
  }
}

/** Sends slow previews, again when all have responses. */
function keepSearching(url: string, key: string): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const path = `${url}/personsearch/preview?experience.text=${encodeURIComponent(`[${slow}]`)}`;
  const init = { headers: { Authorization: `Bearer ${key}` }, signal: stopped.signal };
  const searching = (async () => {
    while (!stopped.signal.aborted) {
      const calls = Array.from({ length: AT_ONCE }, async () => (await fetch(path, init)).text());
      await Promise.allSettled(calls);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await searching;
    },
  };
}
