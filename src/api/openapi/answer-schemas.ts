/** What answers look like: for the documentation, and for the tests that hold the answers to it. */
import { z } from 'zod';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { companyFields, personFields, type RecordField } from '../../core/graph/fields.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { batchReasons } from '../../jobs/batch/states.ts';

const integer = z.number().int();
const text = z.string();
const time = z.iso.datetime();
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

const person = z.strictObject(recordShape(personFields)).meta({ id: 'Person' });
const companyShape = recordShape(companyFields);
const company = z.strictObject(companyShape).meta({ id: 'Company' });

const director = z.strictObject({
  // Null for one who opted out.
  name: text.nullable(),
  role: text,
  appointed_on: text.nullable(),
  resigned_on: text.nullable(),
  person_id: integer.nullable(),
  matched_by: z.enum(['link', 'name_and_birth']).nullable(),
});

const amount = integer.nullable();
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
  'people.enrich': person,
  'people.enrich-with-company': z.strictObject({ person, company: company.nullable() }),
  'people.mobile': z.strictObject({ person_id: integer, mobile: text }),
  'people.email-verify': z.strictObject({
    email: text,
    status: z.enum(['valid', 'invalid', 'catch_all', 'unknown']),
    verified_at: text.nullable(),
    person_id: integer,
  }),
  'companies.enrich': z.strictObject({ ...companyShape, directors: z.array(director).optional() }),
  'companies.logo': z.strictObject({ company_id: integer, logo_url: text }),
  'companies.financials': z.strictObject({
    company_id: integer,
    currency: text.nullable(),
    periods: z.array(period),
  }),
};

/** The answer to a match of a priced operation. */
export function enrichedSchema(operation: OperationName): z.ZodType {
  return z.strictObject({
    data: dataOf[operation],
    match: z.strictObject({ by: text, conflict: z.boolean() }),
    meta: z.strictObject({
      request_id: text,
      credits_charged: z.union([z.literal(0), z.literal(operations[operation].price)]),
      live: z.boolean(),
    }),
  });
}

/** A page of a search. */
export const peopleSchema = z.array(person);

const totalIs = z.enum(['exact', 'about', 'below']).meta({
  description:
    '`exact`: that many. `about`: rounded to two digits, and never finer than tens. `below`: fewer than `total`, perhaps none.',
});

export const previewSchema = z.strictObject({
  total: integer,
  total_is: totalIs,
  estimated_credits: integer,
  fields: z.record(text, integer).meta({
    description:
      'By field, about how many of the people have it; empty where `total_is` is `below`.',
  }),
});

export const doNotContactSchema = z.strictObject({
  email_sha256: text.nullable(),
  domain: text.nullable(),
  created_at: time,
});

export const lookupSchema = z.strictObject({
  data: z.array(z.strictObject({ id: integer, name: text, count: integer })),
});

const limit = z.strictObject({ limit: integer, remaining: integer, reset_at: time });
export const meSchema = z.strictObject({
  key: z.strictObject({
    prefix: text,
    mode: z.enum(['live', 'test']),
    scopes: z.array(text),
    created_at: time,
  }),
  credits: z.strictObject({ remaining: integer, reserved: integer }),
  storage: z.strictObject({
    stored_bytes: integer.meta({
      description:
        'Of lists, results and exports, and of open upload addresses at `bytes_max` each. A list that has not ended counts with the most that its result may take for free, an export 11 bytes for each person that it may hold (`max_results`).',
    }),
    stored_bytes_max: integer.meta({
      description:
        'Beyond it new ones are refused: `storage_full`. A list that may not fit fails when it is split.',
    }),
  }),
  rate_limits: z.strictObject({
    minute: limit,
    day: limit,
    rows: z.strictObject({ limit: amount }),
    credits_today: z.strictObject({ remaining: amount }),
  }),
});

const keyShape = {
  id: z.uuid(),
  prefix: text,
  name: text.nullable(),
  mode: z.enum(['live', 'test']),
  scopes: z.array(text),
  requests_per_minute: integer,
  requests_per_day: integer,
  rows_per_minute: amount,
  credits_per_day: amount,
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
};
export const keySchema = z.strictObject(keyShape).meta({ id: 'Key' });
/** `key` is null in a replay: it is shown once. */
export const newKeySchema = z.strictObject({ key: text.nullable(), ...keyShape });
export const rolledKeySchema = z.strictObject({
  key: text.nullable(),
  ...keyShape,
  replaces: keySchema,
});

/** A page of a list. */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.strictObject({ data: z.array(item), next_cursor: text.nullable() });
}

export const usageSchema = z.strictObject({
  day: text,
  kind: z.enum(['grant', 'charge', 'refund']),
  operation: text.nullable(),
  batch_id: text.nullable(),
  credits: integer,
  units: integer,
  lines: integer,
});

const counts = ['processed', ...outcomeStatuses] as const;

const progressShape = {
  rows: z.strictObject({
    total: amount,
    ...(Object.fromEntries(counts.map((name) => [name, integer])) as Record<
      (typeof counts)[number],
      typeof integer
    >),
  }),
  credits: z.strictObject({ charged: integer, reserved: integer, max: amount }),
  rows_per_second: amount,
  eta_seconds: amount,
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  files_deleted_at: time.nullable(),
  links: z.record(text, text),
};

const stateShape = {
  id: z.uuid(),
  name: text,
  live: z.boolean(),
  state: text,
  reason: z.enum(batchReasons).nullable().meta({
    description:
      'Why it is paused; the first two end by themselves. `expired`: it was held or paused for too long and was cancelled.',
  }),
  error: z.record(text, z.unknown()).nullable(),
  operation: text,
};

const quoteSchema = z.strictObject({
  state: z.enum(['running', 'done']),
  asked_at: text,
  rows: z
    .record(text, integer)
    .meta({ description: 'Rows of each outcome; `invalid` alone where fewer than ten match.' })
    .optional(),
  credits: integer
    .meta({ description: 'The price of the whole list; `max_credits` does not cut it.' })
    .optional(),
  credits_is: z
    .enum(['exact', 'at_most'])
    .meta({ description: '`at_most` where fewer than ten rows match, or none.' })
    .optional(),
  affordable: z.boolean().optional(),
});

export const batchSchema = z
  .looseObject({
    ...stateShape,
    mapping: z.record(text, z.unknown()),
    dialect: z.record(text, z.unknown()),
    not_as_xlsx: text.nullable().meta({
      description:
        'Why the result cannot be downloaded as a workbook, as far as the uploaded rows tell. CSV and JSON lines hold everything.',
    }),
    quote: quoteSchema.nullable(),
    ...progressShape,
  })
  .meta({ id: 'Batch' });

export const exportSchema = z
  .strictObject({
    ...stateShape,
    filter: text,
    fields: z.array(text).nullable(),
    format: text,
    gzip: z.boolean(),
    max_results: amount,
    schedule_id: z.uuid().nullable(),
    total_is: totalIs.nullable().meta({
      description:
        'How `rows.total` and `estimated_credits` are to be read. `exact` from the first delivered person on. Null while they are: before the people are noted, and for a filter that names people, until it has delivered one.',
    }),
    estimated_credits: amount,
    ...progressShape,
  })
  .meta({ id: 'Export' });

export const scheduleSchema = z
  .strictObject({
    id: z.uuid(),
    name: text,
    live: z.boolean(),
    cron: text,
    time_zone: text,
    filter: text,
    fields: z.array(text).nullable(),
    format: text,
    mode: z.enum(['all', 'new']),
    max_results: amount,
    max_credits: amount,
    enabled: z.boolean(),
    next_run_at: time.nullable(),
    created_at: time,
    links: z.record(text, text),
  })
  .meta({ id: 'Schedule' });

export const schedulePreviewSchema = z.strictObject({ next_runs: z.array(time) });

export const scheduleRunSchema = z.strictObject({
  slot: time,
  state: text,
  reason: text.nullable(),
  export_id: text.nullable(),
  rows: integer,
  credits: integer,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});

/** Whatever the call says; its form is told in words. */
export const objectSchema = z.record(text, z.unknown());

export const problemSchema = z
  .looseObject({
    type: text,
    title: text,
    status: integer,
    detail: text,
    code: text,
    request_id: text,
    errors: z.array(z.looseObject({ field: text.optional(), message: text })),
  })
  .meta({ id: 'Problem' });
