/**
 * The load generator, in a separate process so that it does not disturb the measurement: requests every path
 * once over a number of connections and reports the results. Forked; one message in, one out.
 */
import { once } from 'node:events';
import autocannon from 'autocannon';

/** The load: one request per path, with the keys in turn. */
export interface Load {
  url: string;
  connections: number;
  paths: string[];
  /** API keys; none for a service without. */
  keys: string[];
}

export interface Fired {
  seconds: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Responses with status 200, and all others, including lost ones. */
  matched: number;
  others: number;
}

const [message] = (await once(process, 'message')) as [Load];
process.send?.(await fire(message), () => process.exit(0));

async function fire({ url, connections, paths, keys }: Load): Promise<Fired> {
  let next = 0;
  const options = {
    url,
    connections,
    amount: paths.length,
    // Each connection has its own requests, rendered before the clock starts.
    setupClient(client: autocannon.Client) {
      const connection = next++;
      const own = paths.flatMap((path, place) => {
        if (place % connections !== connection) return [];
        const key = keys[place % Math.max(keys.length, 1)];
        return [{ path, headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } }];
      });
      client.setRequests(own);
    },
  };
  // Its own duration is rounded up to a second: this is from the start to the last response.
  let from = performance.now();
  let to = from;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const load = autocannon(options, (error, done) => (error ? reject(error) : resolve(done)));
    load.on('start', () => {
      from = performance.now();
    });
    load.on('response', () => {
      to = performance.now();
    });
  });
  const seconds = (to - from) / 1000;
  const { statusCodeStats, latency, errors, timeouts } = result;
  const counts = Object.entries(statusCodeStats ?? {});
  const matched = counts.find(([status]) => status === '200')?.[1].count ?? 0;
  const answered = counts.reduce((sum, [, { count = 0 }]) => sum + count, 0);
  return {
    seconds,
    requestsPerSecond: Math.round(matched / seconds),
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    matched,
    others: answered - matched + errors + timeouts,
  };
}
