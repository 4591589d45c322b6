/** Explains a connection that fails because of the certificate of the server, with what to do. */
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { type PeerCertificate, type TLSSocket, connect as tlsConnect } from 'node:tls';

/** Codes of Node for a certificate that is refused, with what is wrong and what to do. */
const refusals: Record<string, (found: Found) => { wrong: string; cure: string }> = {
  CERT_HAS_EXPIRED: ({ certificate }) => ({
    wrong: `expired${certificate === null ? '' : ` on ${dayOf(certificate.valid_to)}`}`,
    cure: 'Renew it on the server',
  }),
  CERT_NOT_YET_VALID: ({ certificate }) => ({
    wrong: `is not valid before ${certificate === null ? 'a later day' : dayOf(certificate.valid_from)}`,
    cure: 'Set the clock of this machine, or renew it on the server',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: ({ certificate, server }) => ({
    wrong: `is for ${namesOf(certificate)}, not for ${server.host}`,
    cure: `Correct the host in ${server.option}, or give the server a certificate with its name`,
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
};

const LOOK_MS_MAX = 3_000;
/** The message by which a client of Postgres asks for TLS; the server responds with one byte. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

export interface CertifiedServer {
  /** As in "of Redis at cache:6379". */
  name: 'Postgres' | 'Redis' | 'the object store';
  host: string;
  port: number;
  /** The option that names the server. */
  option: string;
}

interface Found {
  server: CertifiedServer;
  /** Null when the server does not show it. */
  certificate: PeerCertificate | null;
}

/** Returns the code of a refused certificate, of the error or one of its causes; null for any other error. */
export function certificateCode(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown };
    if (typeof code === 'string' && code in refusals) return code;
  }
  return null;
}

/**
 * Returns one line about the certificate of this server, which it asks the server for: which server, what is wrong, what to
 * do. Null when the error has another cause. Never rejects.
 */
export async function explainCertificate(
  error: unknown,
  server: CertifiedServer,
): Promise<string | null> {
  const explain = refusals[certificateCode(error) ?? ''];
  if (explain === undefined) return null;
  const certificate = await readCertificate(server).catch(() => null);
  const { wrong, cure } = explain({ server, certificate });
  return `The certificate of ${server.name} at ${server.host}:${server.port} (${server.option}) ${wrong}. ${cure}.`;
}

function untrusted({ certificate }: Found) {
  const issuer = certificate?.issuer.CN?.toString() ?? 'an unknown authority';
  return {
    wrong: `is signed by ${issuer}, which this machine does not trust`,
    cure: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority, for every process',
  };
}

function dayOf(text: string): string {
  return new Date(text).toISOString().slice(0, 10);
}

function namesOf(certificate: PeerCertificate | null): string {
  const names = certificate?.subjectaltname?.replaceAll(/(DNS|IP Address):/g, '');
  return names ?? certificate?.subject.CN?.toString() ?? 'another host';
}

/** Connects without checks, for the certificate alone. */
async function readCertificate({ name, host, port }: CertifiedServer): Promise<PeerCertificate> {
  const socket = connect(port, host);
  const closed = new AbortController();
  const { signal } = closed;
  // Whatever ends the connection, also between two awaited events, ends the wait.
  socket.on('error', () => {}).on('close', () => closed.abort());
  socket.setTimeout(LOOK_MS_MAX, () => socket.destroy());
  try {
    await once(socket, 'connect', { signal });
    if (name === 'Postgres') {
      socket.write(SSL_REQUEST);
      await once(socket, 'data', { signal });
    }
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secure: TLSSocket = tlsConnect({ socket, rejectUnauthorized: false, ...servername });
    secure.on('error', () => {});
    await once(secure, 'secureConnect', { signal });
    return secure.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}
