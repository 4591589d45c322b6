/**
 * The servers that a database URL names. With several, as libpq has them:
 * `postgres://user:password@host1:5432,host2:5432/db?target_session_attrs=read-write`.
 */

/** One server, as the drivers connect to it. */
export interface DatabaseServer {
  /** Host name or address; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** The same URL with this server alone. */
  url: string;
}

const PORT_DEFAULT = 5432;
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;

/** The only choices for a service that writes: libpq knows further ones. */
const writableAttributes = ['read-write', 'primary'];

/**
 * Returns the servers in the order of the URL. Throws an error that says what is wrong, without the URL, which may
 * hold a password.
 */
export function readDatabaseUrl(url: string): DatabaseServer[] {
  const [, before, hosts, after] = PARTS.exec(url) ?? [];
  if (before === undefined || hosts === undefined || after === undefined) {
    throw new Error('must be postgres://user:password@host:port/database');
  }
  const names = hosts.split(',');
  const servers = names.map((name) => {
    const one = `${before}${name}${after}`;
    const isEmpty = name === '' && names.length > 1;
    if (isEmpty || !URL.canParse(one)) {
      throw new Error(`must name each server as host or host:port; \`${name}\` is neither`);
    }
    const parsed = new URL(one);
    const attributes = parsed.searchParams.get('target_session_attrs');
    if (attributes !== null && !writableAttributes.includes(attributes)) {
      throw new Error('must have target_session_attrs=read-write, because the service writes');
    }
    // libpq and one of our two drivers read it; the other would send it to the server as a parameter.
    if (parsed.searchParams.has('sslrootcert')) {
      throw new Error(
        'must not have sslrootcert: set NODE_EXTRA_CA_CERTS to that file for every process',
      );
    }
    const port = parsed.port === '' ? PORT_DEFAULT : Number(parsed.port);
    return { host: parsed.hostname.replace(/^\[(.+)\]$/, '$1'), port, url: one };
  });
  // One server is the drivers' business, with every parameter. Among several, the choice is made here.
  return servers.length === 1 ? servers : servers.map(withoutChoice);
}

function withoutChoice(server: DatabaseServer): DatabaseServer {
  const url = new URL(server.url);
  url.searchParams.delete('target_session_attrs');
  return { ...server, url: url.href };
}
