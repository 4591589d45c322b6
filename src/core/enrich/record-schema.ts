/** The JSON of people and companies: what `recordToJson` writes. */
import { z } from 'zod';
import { companyFields, personFields, type RecordField } from '../graph/fields.ts';
import { membersOf } from './member-columns.ts';

const integer = z.number().int();
const text = z.string();
const reference = z.strictObject({ id: integer, name: text }).meta({ id: 'Reference' });

const city = z
  .strictObject({
    id: integer,
    name: text,
    countryId: integer,
    countries: reference.nullable(),
    regionId: integer,
    regions: reference.nullable(),
    createdAt: text,
  })
  .meta({ id: 'City' });

/** Fields that hold more than one reference; other objects are one. */
const lists: ReadonlySet<string> = new Set(['pastCompanies', 'currentCompanies']);

function fieldSchema(field: RecordField): z.ZodType {
  if (field.type === 'integer') return integer;
  if (field.type !== 'json') return text;
  if (field.name === 'cities') return city;
  if (lists.has(field.name)) return z.array(reference);
  return field.nullable ? reference : z.array(text);
}

/** A whole record: each of its fields is there. */
function recordShape(fields: readonly RecordField[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    fields.map((field) => {
      const schema = fieldSchema(field);
      const nullable = field.nullable ? schema.nullable() : schema;
      return [field.name, nullable.describe(field.description)];
    }),
  );
}

/** The members of a record that `fields` chooses, among them values inside its objects. */
function chosenShape(
  fields: readonly RecordField[],
  shape: Record<string, z.ZodType>,
): Record<string, z.ZodType> {
  const members = membersOf(fields).map(({ name, type }) => {
    const value = type === 'integer' ? integer : text;
    return [name, value.nullable()];
  });
  const all = { ...shape, ...Object.fromEntries(members) } as Record<string, z.ZodType>;
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value.optional()]));
}

export const personSchema = z.strictObject(recordShape(personFields)).meta({ id: 'Person' });
export const companyShape = recordShape(companyFields);
export const companySchema = z.strictObject(companyShape).meta({ id: 'Company' });

/** A record whose members `fields` chose. */
export const chosenPersonSchema = z
  .strictObject(chosenShape(personFields, personSchema.shape))
  .meta({ id: 'ChosenPerson' });
export const chosenCompanySchema = z
  .strictObject(chosenShape(companyFields, companyShape))
  .meta({ id: 'ChosenCompany' });
