/** The JSON of a match of a priced operation. */
import { z } from 'zod';
import { type OperationName, operations } from '../operations.ts';
import {
  chosenCompanySchema,
  chosenPersonSchema,
  companySchema,
  companyShape,
  personSchema,
} from './record-schema.ts';

const integer = z.number().int();
const text = z.string();
const amount = integer.nullable();

const director = z.strictObject({
  // Null for one who opted out.
  name: text.nullable(),
  role: text,
  appointed_on: text.nullable(),
  resigned_on: text.nullable(),
  person_id: integer.nullable(),
  matched_by: z.enum(['link', 'name_and_birth']).nullable(),
});

const period = z.strictObject({
  period_end: text,
  currency: text,
  revenue: amount,
  gross_profit: amount,
  operating_profit: amount,
  profit: amount,
  total_assets: amount,
  net_assets: amount,
  cash: amount,
  employees: amount,
});

const dataOf: Record<OperationName, z.ZodType> = {
  'people.enrich': z.union([personSchema, chosenPersonSchema]),
  'people.enrich-with-company': z.strictObject({
    person: z.union([personSchema, chosenPersonSchema]),
    company: z.union([companySchema, chosenCompanySchema]).nullable(),
  }),
  'people.mobile': z.strictObject({ person_id: integer, mobile: text }),
  'people.email-verify': z.strictObject({
    email: text,
    status: z.enum(['valid', 'invalid', 'catch_all', 'unknown']),
    verified_at: text.nullable(),
    person_id: integer,
  }),
  'companies.enrich': z.union([
    z.strictObject({ ...companyShape, directors: z.array(director).optional() }),
    chosenCompanySchema,
  ]),
  'companies.logo': z.strictObject({ company_id: integer, logo_url: text }),
  'companies.financials': z.strictObject({
    company_id: integer,
    currency: text.nullable(),
    periods: z.array(period),
  }),
};

/** The response to a match of the operation. */
export function enrichedSchema(operation: OperationName): z.ZodType {
  return z.strictObject({
    data: dataOf[operation],
    match: z.strictObject({
      by: text,
      conflict: z.boolean(),
      probability: z.number().optional().meta({
        description: 'For a likely match: the probability that it is right, from 0 to 1.',
      }),
      evidence: text.optional().meta({ description: 'For a likely match: what supports it.' }),
    }),
    meta: z.strictObject({
      request_id: text,
      credits_charged: z.union([z.literal(0), z.literal(operations[operation].price)]),
      live: z.boolean(),
    }),
  });
}
