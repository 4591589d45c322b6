/** The JSON of people and companies: what `recordToJson` writes. */
import { z } from 'zod';
import { companyFields, personFields, type RecordField } from './fields.ts';

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

/** A record; `fields` of a call may leave any of it out. */
function recordShape(fields: readonly RecordField[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    fields.map((field) => {
      const schema = fieldSchema(field);
      return [field.name, (field.nullable ? schema.nullable() : schema).optional()];
    }),
  );
}

export const personSchema = z.strictObject(recordShape(personFields)).meta({ id: 'Person' });
export const companyShape = recordShape(companyFields);
export const companySchema = z.strictObject(companyShape).meta({ id: 'Company' });
