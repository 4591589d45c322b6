/** Which addresses of the Internet a message may be sent to: public ones of single machines, no others. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by their range, and yet a door into the cloud that the service runs in (Azure's platform). */
const platformAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * The part of IPv6 that single machines have addresses of (RFC 4291, and IANA's registry): what is outside
 * has a meaning of its own or none. Some of it maps IPv4, such as `::127.0.0.1` and `64:ff9b::/96`.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for an IPv4 or IPv6 address that belongs to one machine that everybody can reach. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || platformAddresses.has(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}
