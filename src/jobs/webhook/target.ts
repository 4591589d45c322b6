/**
 * Checks the target of a webhook. A customer chooses an address that this service will call from inside its
 * network, so only public addresses, https and its two ports are allowed (OWASP, Server Side Request Forgery
 * Prevention). The check runs when a webhook is saved and again at every attempt, because names change their
 * addresses. The attempt connects to the checked addresses and does not resolve the name again.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

const URL_LENGTH_MAX = 2_048;
const portsAllowed: ReadonlySet<string> = new Set(['', '443', '8443']);

/** A name server that does not respond must not use up an attempt. */
const RESOLVE_MS_MAX = 2_000;
const RESOLVE_TRIES = 2;

/** Resolves a host name; empty when it has no address or the name servers fail. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface TargetRules {
  /** Hosts that the operator exempts from the rules (WEBHOOK_ALLOWED_HOSTS). */
  allowedHosts: readonly string[];
  resolve: Resolve;
}

/** The address cannot be that of a webhook; the message is a predicate, such as "must begin with https://". */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

export interface Target {
  url: URL;
  /** The only addresses to connect to; null for an allowed host, which is not checked. */
  addresses: string[] | null;
}

/** Queries the name servers for IPv4 and IPv6 addresses. The system resolver runs few calls at once. */
export async function resolveHost(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS_MAX, tries: RESOLVE_TRIES });
  const answers = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Checks the URL of a webhook and resolves it. Throws `TargetRefused`. */
export async function findTarget(text: string, rules: TargetRules): Promise<Target> {
  const url = parseTarget(text);
  if (rules.allowedHosts.includes(url.hostname)) return { url, addresses: null };
  if (url.protocol !== 'https:') throw new TargetRefused('must begin with https://');
  if (!portsAllowed.has(url.port)) throw new TargetRefused('must use port 443 or 8443');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await rules.resolve(host) : [host];
  // One message for both: another one for no address would tell which names the internal network has.
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) {
    throw new TargetRefused('must resolve to public addresses only');
  }
  return { url, addresses };
}

/** The URL in canonical form, which resolves `0x7f.1` and full-width digits. */
function parseTarget(text: string): URL {
  if (text.length > URL_LENGTH_MAX) {
    throw new TargetRefused(`must have at most ${URL_LENGTH_MAX} characters`);
  }
  if (!URL.canParse(text)) throw new TargetRefused('must be a URL such as https://host/path');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefused('must begin with https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefused('must not contain a user name or password');
  }
  url.hash = '';
  return url;
}
