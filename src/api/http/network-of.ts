/** The network of a client, which limits callers without a key. */
import { isIPv6 } from 'node:net';
import type { Request } from 'express';

const WORDS = 8;
/** Providers give each customer at least this many words of an IPv6 address (RFC 6177): the rest is the customer's choice. */
const NETWORK_WORDS = 4;

/** Returns the IPv4 address of the client, or the /64 network of its IPv6 address; '' for a connection that has closed. */
export function networkOf(client: Pick<Request, 'ip'>): string {
  const ip = withoutPort(client.ip ?? '');
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(ip);
  if (mapped?.[1] !== undefined) return mapped[1];
  return isIPv6(ip) ? `${wordsOf(ip).slice(0, NETWORK_WORDS).join(':')}::/64` : ip;
}

/** Some proxies forward the port of the client too, which is another one for each connection. */
function withoutPort(ip: string): string {
  return ip.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

/** The first words of an IPv6 address as numbers in one spelling; `::` stands for the zeros that are left out. */
function wordsOf(address: string): string[] {
  const [before = '', after] = address.replace(/%.*$/, '').split('::');
  const words = (part: string) => part.split(':').filter((word) => word !== '');
  const left = words(before);
  if (after === undefined) return left.map(spell);
  const zeros = Array<string>(WORDS - left.length - words(after).length).fill('0');
  return [...left, ...zeros, ...words(after)].map(spell);
}

function spell(word: string): string {
  return Number.parseInt(word, 16).toString(16);
}
