/**
 * Conformance with third-party vectors that are not part of the package. When they are missing, this prints one
 * line and only the package's own vectors run.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../lib/package-root.ts';
import { normaliseDomain, toAsciiHost } from './domain.ts';
import { normaliseEmail } from './email.ts';
import { kindNames, normaliseIdentifier } from './identifier.ts';
import { normaliseMicroblogHandle } from './microblog-handle.ts';
import { normalisePhone } from './phone.ts';
import { normaliseProfileUrl } from './profile-url.ts';
import { expectCanonical } from './vectors/normaliser.test-suite.ts';

const folder = path.join(packageRoot, '../shared/data/vectors');
const isFound = existsSync(folder);
if (!isFound) process.stdout.write('skipped: shared vectors not found\n');

function read(file: string): string {
  const bytes = readFileSync(path.join(folder, file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

function lastValue(text: string): string | null {
  const outcome = normaliseDomain(text);
  return 'values' in outcome ? (outcome.values.at(-1) ?? null) : null;
}

describe.skipIf(!isFound)('shared vectors', () => {
  test('hostile strings and injection payloads give a canonical value or a reason', () => {
    const naughty: string[] = JSON.parse(read('strings/blns.json'));
    const payloads = readdirSync(path.join(folder, 'injection'), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.txt'))
      .flatMap((file) => read(`injection/${file}`).split('\n'));
    for (const text of [...naughty, ...payloads]) {
      for (const kind of kindNames) {
        for (const subject of ['person', 'company'] as const) {
          const normalise = (again: string) => normaliseIdentifier(kind, again, { subject });
          expectCanonical(normalise, text, undefined);
        }
      }
    }
  });

  test('the registrable domain passes the checks of the Public Suffix List', () => {
    const checks = [
      ...read('psl/test_psl.txt').matchAll(/^checkPublicSuffix\('([^']+)', (null|'[^']+')\)/gm),
    ];
    expect(checks.length).toBeGreaterThan(50);
    for (const [, text = '', wanted = ''] of checks) {
      if (text === 'uk.com') continue; // A private suffix alone is its owner's domain here.
      const expected = wanted === 'null' ? null : toAsciiHost(wanted.slice(1, -1));
      expect([text, lastValue(text)]).toEqual([text, expected]);
    }
  });

  test('no listed suffix is hidden by the domains that skip the list', () => {
    const icann = read('psl/public_suffix_list.dat').split('===END ICANN DOMAINS===', 1)[0] ?? '';
    const rules = icann.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
    const tops = ['com', 'org', 'net', 'edu', 'gov', 'info', 'dev', 'app'];
    expect(rules.filter((rule) => tops.some((top) => rule.endsWith(`.${top}`)))).toEqual([]);
  });

  test('example numbers of all plans are read in their region and with a plus', () => {
    const xml = read('phone/PhoneNumberMetadata.xml.gz');
    const failed: string[] = [];
    let count = 0;
    for (const [territory, region = '', code = ''] of xml.matchAll(
      /<territory id="([A-Z]{2})"\s+countryCode="(\d+)"[\s\S]*?<\/territory>/g,
    )) {
      for (const [, example = ''] of territory.matchAll(/<exampleNumber>(\d+)</g)) {
        count += 1;
        // A row of digits identifies no one: rule 6 of the normaliser.
        if (/^(?:0?123456789|1234567890)$/.test(example)) continue;
        for (const outcome of [
          normalisePhone(example, region),
          normalisePhone(`+${code}${example}`),
        ]) {
          const value = 'values' in outcome ? outcome.values[0] : outcome.reason;
          if (value !== `+${code}${example}`) failed.push(`${region} ${example} ${value}`);
        }
      }
    }
    expect(count).toBeGreaterThan(1000);
    // A few differ between editions of the plans; four digits are never a number here.
    expect(failed.length / count, failed.join(', ')).toBeLessThan(0.01);
  });

  test('email addresses that the RFCs forbid are never accepted unchanged', () => {
    const departures = ['test@io', 'test.@iana.org']; // Rules 5 and 6 of the normaliser.
    const failed: string[] = [];
    const tests = [
      ...read('email/isemail-tests.xml').matchAll(
        /<address>([^<]*)<\/address>[\s\S]*?<category>(\w+)<\/category>/g,
      ),
    ];
    expect(tests.length).toBeGreaterThan(100);
    for (const [, escaped = '', category = ''] of tests) {
      const text = escaped
        .replace(/&#x(24[0-9a-f]{2});/gi, (_, hex) =>
          String.fromCharCode(Number.parseInt(hex, 16) & 0xff),
        )
        .replace(
          /&(lt|gt|amp|quot);/g,
          (_, name: string) => ({ lt: '<', gt: '>', amp: '&' })[name] ?? '"',
        );
      const outcome = normaliseEmail(text);
      const isTaken = 'values' in outcome && outcome.values[0] === text.toLowerCase();
      if (
        category === 'ISEMAIL_ERR' ? isTaken : category === 'ISEMAIL_VALID_CATEGORY' && !isTaken
      ) {
        failed.push(`${category} ${text}`);
      }
    }
    expect(failed.filter((line) => !departures.includes(line.split(' ')[1] ?? ''))).toEqual([]);
  });

  test('hosts become ASCII as in browsers, or are refused', () => {
    const tests: (string | { input: string; output: string | null })[] = [
      ...JSON.parse(read('url/wpt-toascii.json.gz')),
      ...JSON.parse(read('url/wpt-IdnaTestV2.json.gz')),
    ];
    for (const entry of tests) {
      if (typeof entry === 'string') continue;
      const host = toAsciiHost(entry.input);
      if (host !== null)
        expect([entry.input, host]).toEqual([entry.input, entry.output?.replace(/\.$/, '')]);
    }
  });

  test('profile and microblog URLs in the wild give their handle', () => {
    interface Platform {
      [page: string]: { tests: Record<string, Record<string, string> | null> };
    }
    const platforms: Record<string, Platform> = JSON.parse(
      read('handle/social-profile-regexes.json'),
    );
    const professional = Object.values(platforms).find((platform) => 'profile_pub' in platform);
    for (const [url, found] of Object.entries(professional?.profile?.tests ?? {})) {
      expect(normaliseProfileUrl(url, 'person')).toEqual({ values: [found?.permalink] });
    }
    for (const [url, found] of Object.entries(professional?.company?.tests ?? {})) {
      expect(normaliseProfileUrl(url, 'company')).toEqual({ values: [found?.company_permalink] });
    }
    const microblog = { ...platforms.twitter?.user?.tests, ...platforms.twitter?.status?.tests };
    expect(Object.keys(microblog).length).toBeGreaterThan(5);
    for (const [url, found] of Object.entries(microblog)) {
      if (url.startsWith('htt:')) continue; // Any scheme will do here.
      const outcome = normaliseMicroblogHandle(url);
      expect([url, outcome]).toEqual([
        url,
        found === null ? { reason: 'not_a_handle' } : { values: [found.username] },
      ]);
    }
  });
});
