/** Decides which addresses a message may be sent to: only public addresses of single machines. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by their range, yet internal to the cloud that the service runs in (Azure's platform). */
const platformAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * The global unicast range of IPv6 (RFC 4291, and IANA's registry): anything outside is special or unassigned.
 * Some of it maps IPv4, such as `::127.0.0.1` and `64:ff9b::/96`.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for a public unicast IPv4 or IPv6 address. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || platformAddresses.has(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}
