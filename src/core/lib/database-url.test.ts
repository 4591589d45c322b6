import { describe, expect, test } from 'vitest';
import { readDatabaseUrl } from './database-url.ts';

describe('a database URL', () => {
  test('with several servers, as libpq has them, is one URL for each', () => {
    const url = 'postgres://me:p%40ss@a:5433,b,[::1]:5435/db?target_session_attrs=read-write&x=1';
    expect(readDatabaseUrl(url)).toEqual([
      { host: 'a', port: 5433, url: 'postgres://me:p%40ss@a:5433/db?x=1' },
      { host: 'b', port: 5432, url: 'postgres://me:p%40ss@b/db?x=1' },
      { host: '::1', port: 5435, url: 'postgres://me:p%40ss@[::1]:5435/db?x=1' },
    ]);
  });

  test('with one server stays as it is', () => {
    const url = 'postgresql://me@db/enrich?target_session_attrs=primary';
    expect(readDatabaseUrl(url)).toEqual([{ host: 'db', port: 5432, url }]);
  });

  test.each([
    ['mysql://me@db/enrich', 'must be postgres://'],
    ['postgres://me@a:5432,/enrich', '`` is neither'],
    ['postgres://me@a,b:port/enrich', '`b:port` is neither'],
    ['postgres://me@a,b/enrich?target_session_attrs=any', 'target_session_attrs=read-write'],
    ['postgres://me@a/enrich?target_session_attrs=standby', 'target_session_attrs=read-write'],
    ['postgres://me@a/enrich?sslmode=verify-full&sslrootcert=/ca', 'NODE_EXTRA_CA_CERTS'],
  ])('%s is refused with what is wrong', (url, message) => {
    expect(() => readDatabaseUrl(url)).toThrow(message);
  });
});
