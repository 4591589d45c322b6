import { expect, it } from 'vitest';
import { companyFields, personFields, type RecordField } from './fields.ts';
import { CELL_SEPARATOR, recordCell, recordToJson } from './record.ts';

const fields = [
  { name: 'id', type: 'integer', nullable: false, sql: '' },
  { name: 'title', type: 'text', nullable: false, sql: '' },
  { name: 'school', type: 'text', nullable: true, sql: '' },
  { name: 'regionId', type: 'integer', nullable: true, sql: '' },
  { name: 'company', type: 'json', nullable: true, sql: '' },
  { name: 'domains', type: 'json', nullable: false, sql: '' },
].map((field) => ({ ...field, description: '' }) as RecordField);

it('gives every cell its JSON type', () => {
  const record = ['7', 'a "b"', 'x', '0', '{"id":1,"name":"y"}', '["z"]'].join(CELL_SEPARATOR);
  expect(JSON.parse(recordToJson(fields, record))).toEqual({
    id: 7,
    title: 'a "b"',
    school: 'x',
    regionId: 0,
    company: { id: 1, name: 'y' },
    domains: ['z'],
  });
});

it('gives an empty cell the absent value of its field', () => {
  const record = CELL_SEPARATOR.repeat(5);
  expect(JSON.parse(recordToJson(fields, record))).toEqual({
    id: 0,
    title: '',
    school: null,
    regionId: null,
    company: null,
    domains: [],
  });
});

it('finds one cell by name', () => {
  expect(
    recordCell(fields, `7${CELL_SEPARATOR.repeat(2)}x${CELL_SEPARATOR.repeat(3)}`, 'school'),
  ).toBe('x');
});

it('refuses a record with a wrong number of cells, and an unknown field', () => {
  expect(() => recordToJson(fields, 'a')).toThrow('1 cells for 6 fields');
  expect(() => recordCell(fields, CELL_SEPARATOR.repeat(5), 'nope')).toThrow('no field nope');
});

it('knows 65 person fields and 34 company fields', () => {
  expect(personFields).toHaveLength(65);
  expect(companyFields).toHaveLength(34);
});
