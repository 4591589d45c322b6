/** Clients that call several processes with one key, all at the same moments. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../support/limit-history.ts';

export const CLIENTS = 50;
/**
 * Time between such moments. Clients that call as fast as responses arrive leave the processes none of the machine, and a
 * limiter that waits too long for its store decides without it.
 */
const EVERY_MS = 100;

/**
 * Fifty clients, spread evenly, call until `isOver`, which is asked after each response: then all end, because a last one alone
 * would call no more than its limit allows. Throws at any status but 200 and 429.
 */
export async function hammer(
  urls: readonly string[],
  key: string,
  isOver: (calls: readonly Call[]) => boolean,
): Promise<Call[]> {
  const calls: Call[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  let hasEnded = false;
  const client = async (url: string) => {
    while (!hasEnded) {
      const sent = performance.now() / 1000;
      const status = await callOnce(agent, url, key);
      const answered = performance.now() / 1000;
      if (status !== 200 && status !== 429) throw new Error(`${url} responded ${status}`);
      calls.push({ sent, answered, admitted: status === 200 });
      hasEnded ||= isOver(calls);
      if (hasEnded) return;
      await delay(EVERY_MS - (performance.now() % EVERY_MS));
    }
  };
  try {
    const clients = Array.from({ length: CLIENTS }, (_, n) => client(urls[n % urls.length] ?? ''));
    await Promise.all(clients);
  } finally {
    agent.destroy();
  }
  return calls;
}

/** A free call that counts towards the key's limits; resolves with its status. */
function callOnce(agent: Agent, url: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    const call = request(new URL('/v1/me', url), { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    call.once('error', reject);
    call.end();
  });
}
