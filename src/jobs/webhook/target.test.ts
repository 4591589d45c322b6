import { expect, test } from 'vitest';
import { hostileUrls, resolveStub } from './hostile-urls.test-suite.ts';
import { findTarget, TargetRefused } from './target.ts';

const rules = { allowedHosts: [], resolve: resolveStub };

test('the list of hostile addresses is long and has no duplicates', () => {
  expect(new Set(hostileUrls).size).toBe(hostileUrls.length);
  expect(hostileUrls.length).toBeGreaterThanOrEqual(60);
});

test.each(hostileUrls)('%s is refused', async (url) => {
  await expect(findTarget(url, rules)).rejects.toThrow(TargetRefused);
});

test('a name of the internal network is refused like one that does not exist', async () => {
  const reasonOf = (host: string) =>
    findTarget(`https://${host}/`, rules).catch((error: Error) => error.message);
  const unknown = await reasonOf('nowhere.example');
  expect(unknown).toBe('must resolve to public addresses only');
  expect(await reasonOf('kubernetes.default.svc.cluster.local')).toBe(unknown);
});

test.each([
  ['https://public.example/hooks?token=a', 'https://public.example/hooks?token=a'],
  ['https://public.example:8443', 'https://public.example:8443/'],
  [' HTTPS://PUBLIC.example:443/a/../b#part ', 'https://public.example/b'],
])('%s resolves to all addresses of its name', async (text, href) => {
  const { url, addresses } = await findTarget(text, rules);
  expect(url.href).toBe(href);
  expect(addresses).toEqual(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946']);
});

test('a public address needs no name server', async () => {
  const resolve = () => Promise.reject(new Error('asked'));
  const { addresses } = await findTarget('https://8.8.8.8/', { allowedHosts: [], resolve });
  expect(addresses).toEqual(['8.8.8.8']);
  const six = await findTarget('https://[2606:4700::1111]/', { allowedHosts: [], resolve });
  expect(six.addresses).toEqual(['2606:4700::1111']);
});

test('a host that the operator allows may have any address and port, without TLS; others stay refused', async () => {
  const allowing = { allowedHosts: ['10.0.0.5', 'hooks.internal'], resolve: resolveStub };
  for (const url of ['http://10.0.0.5:9000/a', 'https://HOOKS.internal/', 'http://0xa000005/']) {
    expect((await findTarget(url, allowing)).addresses).toBeNull();
  }
  for (const url of [
    'http://10.0.0.6/',
    'http://a.hooks.internal/',
    'http://hooks.internal.nip.io/',
    'http://u:p@hooks.internal/',
    'ftp://hooks.internal/',
  ]) {
    await expect(findTarget(url, allowing)).rejects.toThrow(TargetRefused);
  }
});
