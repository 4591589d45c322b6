/** Schemas of options: each parses the text of an environment variable. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { readDatabaseUrl } from './lib/database-url.ts';

export const text = z.string().min(1);
export const optionalText = text.optional() as z.ZodType<string | undefined, string | undefined>;
export const redisUrl = z.string().refine((list) => list.split(',').every(isRedisUrl), {
  error: 'must be redis://host:port or rediss://host:port, or several separated by commas',
});
/** One database, on one server or on several of which one accepts writes. */
export const databaseUrl = z
  .string()
  .optional()
  .superRefine((url, context) => {
    try {
      if (url !== undefined) readDatabaseUrl(url);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  }) as unknown as z.ZodType<string | undefined, string | undefined>;
const isPostgresUrl = (text: string) =>
  URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
export const postgresUrls = z
  .string()
  .default('')
  .transform((list) => (list === '' ? [] : list.split(',').map((url) => url.trim())))
  .refine((urls) => urls.every(isPostgresUrl), {
    error: 'must be postgres://user:password@host:port/database, or several separated by commas',
  }) as unknown as z.ZodType<string[], string | undefined>;
/** An option that is on unless it is `false`. */
export const onByDefault: z.ZodType<boolean, string | undefined> = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .default('true')
  .transform((text) => text === 'true');
/** A host in the form in which addresses are compared. */
const hostName = z.string().transform((text, context) => {
  const host = text.trim();
  const isHost = /^([^\s/:@?#\\[\]]+|\[[0-9a-f:.]+\])$/i.test(host);
  if (isHost && URL.canParse(`http://${host}/`)) return new URL(`http://${host}/`).hostname;
  context.addIssue(`\`${host}\` must be the name or address of a host, without port and path`);
  return z.NEVER;
});
/** Hosts separated by commas. */
export const hostNames = z
  .string()
  .default('')
  .transform((list) => list.split(',').filter(Boolean))
  .pipe(z.array(hostName)) as z.ZodType<string[], string | undefined>;
/** A folder of a bucket, without the closing slash; empty for the whole bucket. */
export const bucketFolder = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*\/?$/,
    'must be a path such as enrich/production',
  )
  .transform((folder) => folder.replace(/\/$/, ''))
  .default('');
/** The Express setting `trust proxy`: a number of proxies, a list of addresses, or false for none. */
export const proxies = z
  .string()
  .optional()
  .transform((text, context): number | string[] | false => {
    if (text === undefined) return false;
    if (/^\d{1,2}$/.test(text)) return Number(text) || false;
    const addresses = text.split(',').map((address) => address.trim());
    const wrong = addresses.find((address) => !isProxy(address));
    if (wrong === undefined) return addresses;
    context.addIssue(
      `\`${wrong}\` must be a number of proxies, an address, a range such as 10.0.0.0/8, \`loopback\`, \`linklocal\` or \`uniquelocal\``,
    );
    return z.NEVER;
  }) as unknown as z.ZodType<number | string[] | false, string | undefined>;
function isProxy(text: string): boolean {
  if (/^(loopback|linklocal|uniquelocal)$/.test(text)) return true;
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}
export const integer = (min: number, max: number, fallback: number) =>
  z.preprocess(
    (value) => (value === undefined ? fallback : Number(value)),
    z.number().int().min(min).max(max),
  ) as unknown as z.ZodType<number, string | undefined>;

function isRedisUrl(node: string): boolean {
  return URL.canParse(node.trim()) && /^rediss?:$/.test(new URL(node.trim()).protocol);
}
