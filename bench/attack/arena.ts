/** The setting of attacks: the service on a generated graph; each attack creates its own accounts. */
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type CreateKeyInput, createKey } from '../../src/core/keys/keys.ts';
import type { BenchStack } from '../bench-stack.ts';

export interface Caller {
  accountId: string;
  keyId: string;
  key: string;
}

export interface Arena {
  stack: BenchStack;
  /** An account with `credits` and a live key; `limits` changes those of the key. */
  account(credits: number, limits?: Partial<CreateKeyInput>): Promise<Caller>;
  /** Calls the API as the caller; null sends no key. */
  call(caller: Pick<Caller, 'key'> | null, path: string, init?: RequestInit): Promise<Response>;
}

/** The measured effect of an attack, with its bound. */
export interface Finding {
  what: string;
  measured: number;
  unit: string;
  /** The attack is repelled while `measured` is at most this. */
  max: number;
}

export interface Attack {
  name: string;
  /** The attack in one line. */
  does: string;
  run(arena: Arena): Promise<Finding[]>;
}

export function openArena(stack: BenchStack): Arena {
  return {
    stack,
    async account(credits, limits = {}) {
      const accountId = await createAccount(stack.sql, { name: 'Attack', credits });
      const { id, key } = await createKey(stack.sql, { accountId, mode: 'live', ...limits });
      return { accountId, keyId: id, key };
    },
    call(caller, path, init = {}) {
      const headers = new Headers(init.headers);
      if (caller !== null) headers.set('Authorization', `Bearer ${caller.key}`);
      return fetch(stack.url + path, { ...init, headers });
    },
  };
}

/** A call with a JSON body. */
export function jsonBody(body: unknown, method = 'POST'): RequestInit {
  return { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** Seconds until the call has its whole response, and its status. */
export async function timed(
  send: () => Promise<Response>,
): Promise<{ seconds: number; status: number }> {
  const started = performance.now();
  const response = await send();
  await response.arrayBuffer();
  return { seconds: (performance.now() - started) / 1000, status: response.status };
}
