import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { environmentWithOnly, readConfig } from './config.ts';
import { AppError } from './lib/errors.ts';

const keys = { S3_ACCESS_KEY_ID: 'AKIDEXAMPLE', S3_SECRET_ACCESS_KEY: 'never-shown' };

function wrongOptions(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('invalid_configuration');
    return error.errors.map(({ field, message }) => {
      expect(error.message).toContain(`${field}: ${message}`);
      return `${field} ${message}`;
    });
  }
  return [];
}

describe('object storage', () => {
  test('is the data folder by default, and an empty variable counts as unset', () => {
    const storage = { provider: 'files', folder: '/data/objects' };
    expect(readConfig({ ENRICH_DATA_DIR: '/data' }).storage).toEqual(storage);
    const empty = { ENRICH_DATA_DIR: '/data', S3_BUCKET: '', S3_ACCESS_KEY_ID: '' };
    expect(readConfig(empty).storage).toEqual(storage);
  });

  test('is a bucket when one is named; AWS with its credential chain needs no other option', () => {
    expect(readConfig({ S3_BUCKET: 'leads' }).storage).toEqual({
      provider: 's3',
      bucket: 'leads',
      region: 'us-east-1',
      endpoint: null,
      prefix: '',
      credentials: null,
    });
  });

  test('reads every option of another S3 server', () => {
    const { storage } = readConfig({
      S3_BUCKET: 'leads',
      S3_REGION: 'eu-west-2',
      S3_ENDPOINT: 'http://storage.internal:9000',
      S3_PREFIX: 'enrich/production/',
      ...keys,
    });
    expect(storage).toMatchObject({
      region: 'eu-west-2',
      endpoint: 'http://storage.internal:9000',
      prefix: 'enrich/production',
    });
    const { credentials } = storage as Extract<typeof storage, { provider: 's3' }>;
    expect(credentials?.accessKeyId).toBe('AKIDEXAMPLE');
    expect(credentials?.secretAccessKey.reveal()).toBe('never-shown');
  });

  test('never prints or logs its secret', () => {
    const config = readConfig({ S3_BUCKET: 'leads', ...keys });
    const shown = inspect(config, { depth: null, showHidden: true }) + JSON.stringify(config);
    expect(shown).toContain('AKIDEXAMPLE');
    expect(shown).not.toContain('never-shown');
  });

  test.each([
    [{ S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'a' }, ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID']],
    [{ S3_BUCKET: 'b', S3_SECRET_ACCESS_KEY: 'a' }, ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']],
    [{ S3_ENDPOINT: 'http://a' }, ['S3_BUCKET', 'S3_ENDPOINT']],
    [{ S3_PREFIX: 'a' }, ['S3_BUCKET', 'S3_PREFIX']],
    [keys, ['S3_BUCKET', 'S3_ACCESS_KEY_ID']],
  ])(
    'a half-set pair is refused with the names of both options, case %#',
    (environment, [needed, by]) => {
      expect(wrongOptions(environment)).toEqual([`${needed} must be set, because ${by} is`]);
    },
  );

  test.each([
    ['S3_ENDPOINT', 'storage.internal:9000'],
    ['S3_ENDPOINT', 'ftp://storage.internal'],
    ['S3_PREFIX', '/enrich'],
    ['S3_PREFIX', 'Lüneburg'],
    ['S3_PREFIX', 'a//b'],
  ])('with %s=%s is refused', (option, value) => {
    const wrong = wrongOptions({ S3_BUCKET: 'b', [option]: value });
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toMatch(new RegExp(`^${option} `));
  });
});

test.each(['redis://cache:6379', 'rediss://me:hush@a:1,rediss://me:hush@b:2'])(
  'REDIS_URL accepts %s',
  (url) => expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url),
);

test.each(['cache:6379', 'redis://a:1,', 'redis://a:1;redis://b:1', 'http://cache:6379'])(
  'REDIS_URL refuses %s',
  (url) => expect(() => readConfig({ REDIS_URL: url })).toThrow('REDIS_URL: must be redis://'),
);

const database = { DATABASE_URL: 'postgres://me:hush@db:5432/enrich' };

test('DATABASE_REPLICA_URLS takes several addresses, and is empty by default', () => {
  const urls = ['postgres://me:hush@a:5432/enrich', 'postgresql://me:hush@b/enrich'];
  const environment = { ...database, DATABASE_REPLICA_URLS: urls.join(', ') };
  expect(readConfig(environment).databaseReplicaUrls).toEqual(urls);
  expect(readConfig({}).databaseReplicaUrls).toEqual([]);
  const alone = { DATABASE_REPLICA_URLS: 'postgres://a/enrich' };
  expect(wrongOptions(alone)).toEqual([
    'DATABASE_URL must be set, because DATABASE_REPLICA_URLS is',
  ]);
});

test.each(['a:5432', 'postgres://a/enrich,', 'mysql://a/enrich'])(
  'DATABASE_REPLICA_URLS refuses %s',
  (urls) => {
    const wrong = wrongOptions({ ...database, DATABASE_REPLICA_URLS: urls });
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toMatch(/^DATABASE_REPLICA_URLS must be postgres:/);
  },
);

test('a process that is started with only some options inherits no other option', () => {
  const inherited = {
    REDIS_URL: 'redis://elsewhere',
    S3_BUCKET: 'leads',
    CHUNK_ROWS: '7',
    PATH: '/',
  };
  const environment = environmentWithOnly({ chunkRows: '9', port: '0' }, inherited);
  expect(readConfig(environment)).toEqual(readConfig({ CHUNK_ROWS: '9', PORT: '0' }));
  expect(environment.PATH).toBe('/');
});

test('hosts that webhooks may point to are parsed like addresses, and an invalid one is named', () => {
  const read = (list: string) => readConfig({ WEBHOOK_ALLOWED_HOSTS: list }).webhookAllowedHosts;
  expect(readConfig({}).webhookAllowedHosts).toEqual([]);
  expect(read('Hooks.Internal, 0x7f.1,[::1]')).toEqual(['hooks.internal', '127.0.0.1', '[::1]']);
  for (const wrong of ['a/b', 'a:80', 'http://a', '[zz]', 'a b', 'a,u@b']) {
    expect(() => read(wrong)).toThrow('WEBHOOK_ALLOWED_HOSTS');
  }
});

test('the key of the webhook secrets is 32 bytes and never shown', () => {
  const key = Buffer.alloc(32, 'k').toString('base64');
  const { webhookEncryptionKey } = readConfig({ WEBHOOK_ENCRYPTION_KEY: key });
  expect(webhookEncryptionKey?.reveal()).toBe(key);
  expect(JSON.stringify({ webhookEncryptionKey })).not.toContain(key);
  for (const wrong of ['a', key.slice(0, -4), `${key}aaaa`, 'k'.repeat(44)]) {
    expect(() => readConfig({ WEBHOOK_ENCRYPTION_KEY: wrong })).toThrow('32 bytes');
  }
});
