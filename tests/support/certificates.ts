/** Certificates for tests, and servers that show them. Written by hand in DER (RFC 5280): Node can read certificates only. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';

const TAG = {
  integer: 2,
  bits: 3,
  bytes: 4,
  oid: 6,
  utf8: 12,
  time: 23,
  list: 48,
  set: 49,
} as const;
const OID = {
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const;
const DNS_NAME = 0x82;
const DAY_MS = 86_400_000;

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

interface Authority extends Certificate {
  name: string;
  privateKey: KeyObject;
}

interface Wanted {
  host: string;
  /** Days from now. */
  from?: number;
  to?: number;
}

/** Creates an authority, whose `cert` a client has to trust. */
export function createAuthority(name: string): Authority {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const constraints = extension(OID.basicConstraints, der(TAG.list, der(1, Buffer.from([0xff]))));
  const signer = { name, privateKey: pair.privateKey };
  const cert = certificate(signer, name, pair.publicKey, constraints, { from: -1, to: 1 });
  return { name, cert, key: pem(pair.privateKey), privateKey: pair.privateKey };
}

/** Creates the certificate of a server. */
export function issue(authority: Authority, { host, from = -1, to = 1 }: Wanted): Certificate {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = extension(OID.subjectAltName, der(TAG.list, der(DNS_NAME, Buffer.from(host))));
  const cert = certificate(authority, host, pair.publicKey, names, { from, to });
  return { cert, key: pem(pair.privateKey) };
}

/** A server that shows a certificate and passes what it decrypts on to a port of this machine. */
export interface TlsFront {
  port: number;
  close(): void;
}

/** Starts one; `afterRequest` for a server of Postgres, which is asked for TLS in plain text first. */
export async function startTlsFront(
  { cert, key }: Certificate,
  target: number,
  afterRequest = false,
): Promise<TlsFront> {
  const secureContext = createSecureContext({ cert, key });
  const sockets = new Set<Socket>();
  const server = createServer(async (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    if (afterRequest) {
      await once(socket, 'data');
      socket.write('S');
    }
    const secure = new TLSSocket(socket, { isServer: true, secureContext });
    const upstream = connect(target, '127.0.0.1');
    pipeline(secure, upstream, secure, () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function certificate(
  { name, privateKey }: Pick<Authority, 'name' | 'privateKey'>,
  subject: string,
  publicKey: KeyObject,
  extensionOf: Buffer,
  { from, to }: { from: number; to: number },
): string {
  const algorithm = der(TAG.list, oid(OID.ecdsaWithSha256));
  const content = der(
    TAG.list,
    // Version 3, and a serial number.
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1])),
    algorithm,
    nameOf(name),
    der(TAG.list, time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(TAG.list, extensionOf)),
  );
  const signature = sign('sha256', content, privateKey);
  const whole = der(TAG.list, content, algorithm, der(TAG.bits, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, 'hex'));
}

function nameOf(text: string): Buffer {
  const value = der(TAG.utf8, Buffer.from(text));
  return der(TAG.list, der(TAG.set, der(TAG.list, oid(OID.commonName), value)));
}

function extension(id: string, value: Buffer): Buffer {
  return der(TAG.list, oid(id), der(TAG.bytes, value));
}

/** YYMMDDHHMMSSZ. */
function time(days: number): Buffer {
  const at = new Date(Date.now() + days * DAY_MS).toISOString();
  return der(TAG.time, Buffer.from(`${at.slice(2, 19).replace(/[-T:]/g, '')}Z`));
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
