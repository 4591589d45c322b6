/**
 * Requests at a fixed rate, each measured from its due time: when a server falls behind, the waiting counts
 * too, as for its users.
 */
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';

export interface Latencies {
  requests: number;
  failed: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  max: number;
}

export interface OpenLoop {
  addresses: readonly string[];
  /** Used in turn, as are the URLs. */
  headers: readonly Record<string, string>[];
  perSecond: number;
  seconds: number;
  /** True for a connection of its own for each request. */
  connectsAnew?: boolean;
}

/** Sends a request for each address in turn, `perSecond` of them, for `seconds`. */
export async function runOpenLoop({
  addresses,
  headers,
  perSecond,
  seconds,
  connectsAnew = false,
}: OpenLoop): Promise<Latencies> {
  const agent = new http.Agent({ keepAlive: !connectsAnew, maxSockets: 256 });
  const started = performance.now();
  const total = perSecond * seconds;
  const sent: Promise<number | null>[] = [];
  while (sent.length < total) {
    const due = started + (sent.length * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await setTimeout(wait);
    const address = addresses[sent.length % addresses.length] ?? '';
    sent.push(get(address, headers[sent.length % headers.length] ?? {}, agent, due));
  }
  const answers = await Promise.all(sent);
  agent.destroy();
  const times = answers.filter((time) => time !== null).sort((a, b) => a - b);
  const at = (share: number) => {
    const time = times[Math.min(times.length - 1, Math.floor(times.length * share))];
    return Number((time ?? Number.NaN).toFixed(2));
  };
  const failed = total - times.length;
  return { requests: total, failed, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** Milliseconds from the due time to the last byte of the response; null when it was not 200. */
function get(
  address: string,
  headers: Record<string, string>,
  agent: http.Agent,
  due: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const request = http.get(address, { headers, agent }, (response) => {
      response.resume();
      response.on('error', () => resolve(null));
      response.on('end', () => {
        resolve(response.statusCode === 200 ? performance.now() - due : null);
      });
    });
    request.on('error', () => resolve(null));
  });
}
