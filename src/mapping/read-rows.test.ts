import { expect, test } from 'vitest';
import { scanRecords } from '../formats/csv/record-scanner.ts';
import { readRows } from './read-rows.ts';

test.each([
  ['many rows', 'acme.example\n', 3000, 29],
  ['long cells', `${'例'.repeat(1900)}.example\n`, 300, 24],
])('a chunk of %s leaves the thread to others while it is read', async (_, row, count, least) => {
  let rounds = 0;
  let isReading = true;
  const onRound = () => {
    rounds++;
    if (isReading) setImmediate(onRound);
  };
  setImmediate(onRound);
  const piece = Buffer.from(row.repeat(count));
  const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: { domain: [{ column: 1, header: null, reason: 'chosen' }] },
    delimiter: ',',
    match: 'exact',
    defaultRegion: null,
    country: null,
    width: 1,
  });
  isReading = false;
  expect(rows).toHaveLength(count);
  expect(rounds).toBeGreaterThanOrEqual(least);
});

test('a calling code reads phones, and is a country when one alone has it', async () => {
  const piece = Buffer.from(
    '020 7946 0958,+44\n030 123456,+49\n(603) 271-2711,+1\n020 7946 0958,+0\n',
  );
  const column = (number: number) => [{ column: number, header: null, reason: 'chosen' as const }];
  const { rows, namesOf } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: { phone: column(1), country: column(2) },
    delimiter: ',',
    match: 'exact',
    defaultRegion: null,
    country: null,
    width: 2,
  });
  expect(rows.map(({ identifiers, invalid }) => identifiers[0]?.values ?? invalid)).toEqual([
    ['+442079460958'],
    ['+4930123456'],
    ['+16032712711'],
    'phone_without_country',
  ]);
  expect(rows.map((_, index) => namesOf(index).country)).toEqual([null, 'DE', null, null]);
});

/** Reads a list of companies: the first value that each row is looked up by, or why there is none. */
async function lookUpsOf(
  kind: string,
  { header, country = null, text }: { header: string; country?: string | null; text: string },
) {
  const piece = Buffer.from(text);
  const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: {
      [kind]: [{ column: 1, header, reason: 'chosen' }],
      country: [{ column: 2, header: 'Country', reason: 'chosen' }],
    },
    delimiter: ',',
    match: 'exact',
    defaultRegion: country,
    country,
    width: 2,
  });
  return rows.map(({ identifiers, invalid }) => identifiers[0]?.values[0] ?? invalid);
}

test('a column named after a register has its numbers, not British ones', async () => {
  const text = '12345678,\n';
  const of = async (header: string, country: string | null = null, rows = text) =>
    (await lookUpsOf('registry_number', { header, country, text: rows }))[0];
  expect(await of('Company number')).toBe('GB-12345678');
  expect(await of('KvK-nummer')).toBe('NL-12345678');
  expect(await of('KvK-nummer', 'BE')).toBe('NL-12345678');
  expect(await of('CVR nr.')).toBe('DK-12345678');
  expect(await of('N° SIREN', null, '552100554,\n')).toBe('FR-552100554');
  expect(await of('Companies House number', null, '12345678,Germany\n')).toBe('GB-12345678');
  expect(await of('Handelsregisternummer')).toBe('unknown_country');
  expect(await of('Handelsregisternummer', 'AT')).toBe('AT-12345678');
  expect(await of('Handelsregisternummer', null, '12345678,CH\n')).toBe('CH-12345678');
});

test('a country that is not known is not the one of the list', async () => {
  const cells = ['', 'n/a', 'Unknown', 'Deutchland', 'EMEA', 'GB', '+44', '44', '"London, UK"'];
  const text = (cell: string) => cells.map((country) => `${cell},${country}\n`).join('');
  const registered = { header: 'Company number', country: 'GB', text: text('12345678') };
  const none = 'unknown_country';
  const british = 'GB-12345678';
  expect(await lookUpsOf('registry_number', registered)).toEqual([
    ...[british, british, british, none, none, british, british, british, british],
  ]);
  const called = { header: 'Phone', country: 'GB', text: text('020 7946 0958') };
  const number = '+442079460958';
  const without = 'phone_without_country';
  expect(await lookUpsOf('phone', called)).toEqual([
    ...[number, number, number, without, without, number, number, number, number],
  ]);
});

test('the country of the list is that of rows without one', async () => {
  const piece = Buffer.from(
    '01 23 45 67 80,Jane Doe,\n020 7946 0958,Jane Doe,GB\n01234567,Jane,x\n',
  );
  const column = (number: number) => [{ column: number, header: null, reason: 'chosen' as const }];
  const read = async (country: string | null, defaultRegion: string | null) => {
    const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
      operation: 'people.enrich',
      mapping: { phone: column(1), person_name: column(2), country: column(3) },
      delimiter: ',',
      match: 'likely',
      defaultRegion,
      country,
      width: 3,
    });
    return rows.map(({ identifiers, likely }) => [identifiers[0]?.values[0], likely?.country]);
  };
  const [british, unknown] = [
    ['+442079460958', 'GB'],
    [undefined, 'ZZ'],
  ];
  expect(await read(null, null)).toEqual([[undefined, null], british, unknown]);
  expect(await read('FR', null)).toEqual([['+33123456780', 'FR'], british, unknown]);
  expect(await read('DE', 'FR')).toEqual([['+33123456780', 'DE'], british, unknown]);
});

test('a cell without a value is no identifier and no place', async () => {
  const nothing = ['nan', 'None', 'null', 'N/A', '#N/A', '-', 'unknown', 'n. a.', 'k.A.', '(none)'];
  const piece = Buffer.from(nothing.map((cell) => `${cell},Jane Null,${cell},${cell}\n`).join(''));
  const column = (number: number) => [{ column: number, header: null, reason: 'chosen' as const }];
  const read = async (operation: 'people.enrich' | 'companies.enrich', kinds: object) => {
    const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
      operation,
      mapping: { ...kinds, city: column(3), country: column(4) },
      delimiter: ',',
      match: 'likely',
      defaultRegion: null,
      country: null,
      width: 4,
    });
    return rows;
  };
  const handles = { professional_network: column(1), twitter: column(1), person_name: column(2) };
  for (const { identifiers, invalid, likely } of await read('people.enrich', handles)) {
    expect([identifiers, invalid]).toEqual([[], 'no_identifier']);
    const context = { company: '', title: '', city: '', country: null };
    expect(likely).toEqual({ name: 'Jane Null', ...context });
  }
  for (const { identifiers } of await read('companies.enrich', { name: column(1) })) {
    expect(identifiers).toEqual([]);
  }
});

test('the label of a link, the state of a contact and an answer are no handles', async () => {
  const words = 'Link Profile LinkedIn view No yes x 1 Klick Voir Ver connected pending Sent 1st';
  const labels = words.split(' ');
  const piece = Buffer.from([...labels, 'janedoe', 'x.com/link'].join('\n'));
  const column = [{ column: 1, header: 'Twitter', reason: 'chosen' as const }];
  for (const kind of ['professional_network', 'twitter']) {
    const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
      operation: 'people.enrich',
      mapping: { [kind]: column },
      delimiter: ',',
      match: 'exact',
      defaultRegion: null,
      country: null,
      width: 1,
    });
    const values = rows.map(({ identifiers, invalid }) => identifiers[0]?.values[0] ?? invalid);
    expect(values.slice(0, labels.length)).toEqual(labels.map(() => 'no_identifier'));
    expect(values[labels.length]).toBe('janedoe');
    if (kind === 'twitter') expect(values.at(-1)).toBe('link');
  }
});
