import { expect, test } from 'vitest';
import type { Dataset } from './adapter.ts';
import { hubspot } from './adapters/hubspot.ts';
import { mappedDataset } from './mapped-file.ts';

async function rowsOf(dataset: Dataset | null, bytes: Buffer) {
  async function* parts() {
    async function* whole() {
      yield bytes;
    }
    yield { name: 'a.csv', bytes: whole() };
  }
  const rows = [];
  for await (const batch of dataset?.read(parts()) ?? []) rows.push(...batch);
  return rows;
}

test('lists in the cells do not decide on the delimiter of a file, its header does', async () => {
  const ids = Array.from({ length: 500 }, (_, id) => id).join(';');
  const text = `Record ID,Company name,Company Domain Name,Associated Contact IDs\n7,Acme,acme.example,${ids}\n`;
  const dataset = hubspot.recognise({ name: 'companies.csv', text });
  expect(await rowsOf(dataset, Buffer.from(text))).toMatchObject([
    { records: [{ key: 'company:7', record: { name: 'Acme' } }] },
  ]);
});

test('a mapped file is read in the encoding in which its columns were guessed', async () => {
  // Windows-1250.
  const bytes: Record<string, number> = { Ł: 0xa3, ś: 0x9c, ó: 0xf3, ł: 0xb3, Ż: 0xaf, ź: 0x9f };
  const text = 'Name,City\nŁukasz Wiśniewski,Kraków\nMałgorzata Żak,Łódź\n';
  const encoded = Buffer.from([...text].map((letter) => bytes[letter] ?? letter.charCodeAt(0)));
  const columns = { full_name: ['Name'], city: ['City'] };
  expect(
    await rowsOf(mappedDataset('partners', { of: 'persons', columns }), encoded),
  ).toMatchObject([
    { records: [{ record: { name: 'Łukasz', surname: 'Wiśniewski', _city: 'Kraków' } }] },
    { records: [{ record: { name: 'Małgorzata', surname: 'Żak', _city: 'Łódź' } }] },
  ]);
});

const contacts = { key: ['id'], full_name: ['name'] };

test('columns with a name that a numbered one has already are columns of their own', async () => {
  const dataset = mappedDataset('partners', { of: 'persons', columns: contacts });
  const text = 'id,name,note,note (2),note\n1,Ada Lark,a,b,c\n';
  expect(await rowsOf(dataset, Buffer.from(text))).toMatchObject([{ records: [{ key: '1' }] }]);
});

test('keys of a JSON file that are numbers of more digits than are read are rejected', async () => {
  const dataset = mappedDataset('partners', { of: 'persons', columns: contacts });
  const ids = [
    '1750000000000000001',
    '1750000000000000002',
    '9007199254740993',
    '9007199254740991',
  ];
  const text = ids.map((id) => `{"id":${id},"name":"Ada Lark"}\n`).join('');
  expect(await rowsOf(dataset, Buffer.from(text))).toMatchObject([
    { line: 1, reason: 'digits_lost' },
    { line: 2, reason: 'digits_lost' },
    { line: 3, reason: 'digits_lost' },
    { records: [{ key: '9007199254740991' }] },
  ]);
});

const named = mappedDataset('partners', {
  of: 'persons',
  columns: { key: ['id'], full_name: ['name'], email: ['email'] },
});

test('a header between the rows is no contact, and one of other columns refuses the file', async () => {
  const text = 'id,name,email\n1,Ada Lark,ada@a.example\nid,name,email\n2,Bob Reed,bob@a.example\n';
  expect(await rowsOf(named, Buffer.from(text))).toMatchObject([
    { records: [{ key: '1' }] },
    { line: 3, reason: 'header_again' },
    { records: [{ key: '2' }] },
  ]);
  const other = text.replace('\nid,name,email', '\nemail,id,name');
  await expect(rowsOf(named, Buffer.from(other))).rejects.toMatchObject({
    code: 'unknown_columns',
    message: expect.stringContaining('Line 3 of a.csv is a header of other columns'),
  });
});

test('a last row without an end and with too few cells was cut off; others may lack cells, or have empty ones more', async () => {
  const text =
    'id,name,email\n1,Ada Lark\n2,Bob Reed,bob@a.example,,\n3,Cid Moss,,x\n4,Dee Reed,dee@a.example\n5,Eve S';
  expect(await rowsOf(named, Buffer.from(text))).toMatchObject([
    { records: [{ key: '1' }] },
    { records: [{ key: '2' }] },
    { line: 4, reason: 'more_cells_than_header' },
    { records: [{ key: '4' }] },
    { line: 6, reason: 'fewer_cells_than_header' },
  ]);
});
