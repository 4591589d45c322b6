/**
 * Where a webhook may point. Whoever makes one chooses an address that this service will call from the
 * inside of its network: so only public addresses, https, and the two ports of it (OWASP, Server Side
 * Request Forgery Prevention). Checked when a webhook is saved, and again at every attempt, because names
 * change their addresses; the attempt connects to the addresses that were checked, and asks no second time.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

const URL_LENGTH_MAX = 2_048;
const portsAllowed: ReadonlySet<string> = new Set(['', '443', '8443']);

/** A name server that does not answer must not use up an attempt. */
const RESOLVE_MS_MAX = 2_000;
const RESOLVE_TRIES = 2;

/** Finds the addresses of a host name; none when it has none, or nobody says. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface TargetRules {
  /** Hosts that the operator lets webhooks point to whatever they are (WEBHOOK_ALLOWED_HOSTS). */
  allowedHosts: readonly string[];
  resolve: Resolve;
}

/** Why an address cannot be that of a webhook, as a sentence about it. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

export interface Target {
  url: URL;
  /** The only addresses to connect to; null for a host that the operator allows. */
  addresses: string[] | null;
}

/** Asks the name servers for both kinds of addresses. Not by the system's calls, of which few run at once. */
export async function resolveHost(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS_MAX, tries: RESOLVE_TRIES });
  const answers = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Checks the address of a webhook and finds where it leads now. Throws `TargetRefused`. */
export async function findTarget(text: string, rules: TargetRules): Promise<Target> {
  const url = parseTarget(text);
  if (rules.allowedHosts.includes(url.hostname)) return { url, addresses: null };
  if (url.protocol !== 'https:') throw new TargetRefused('must begin with https://');
  if (!portsAllowed.has(url.port)) throw new TargetRefused('must use port 443 or 8443');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await rules.resolve(host) : [host];
  if (addresses.length === 0) {
    throw new TargetRefused('has a host name for which no address is found');
  }
  if (!addresses.every(isPublicAddress)) {
    throw new TargetRefused('must lead to public addresses alone');
  }
  return { url, addresses };
}

/** The address in its canonical form, where `0x7f.1` and full-width digits are what they mean. */
function parseTarget(text: string): URL {
  if (text.length > URL_LENGTH_MAX) {
    throw new TargetRefused(`must have at most ${URL_LENGTH_MAX} characters`);
  }
  if (!URL.canParse(text)) throw new TargetRefused('must be an address such as https://host/path');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefused('must begin with https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefused('must not hold a user name or password');
  }
  url.hash = '';
  return url;
}
