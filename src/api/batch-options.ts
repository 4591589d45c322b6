/** The options of a batch as callers send them: form fields, query parameters or JSON. */
import { z } from 'zod';
import { MIN_PROBABILITY_DEFAULT, matchModes } from '../core/enrich/match-mode.ts';
import { countryCode } from '../core/identifiers/country.ts';
import { AppError, invalidParameter } from '../core/lib/errors.ts';
import { plainName } from '../core/lib/plain-name.ts';
import { FIELDS_MAX, isOperationName, operations } from '../core/operations.ts';
import { parseDelimiter } from '../formats/csv/delimiter.ts';
import { parseEncoding } from '../formats/csv/encoding.ts';
import type { ListRequest } from '../jobs/list/create-list.ts';
import type { DialectRequest } from '../jobs/list/read-upload.ts';
import { decimal } from './http/decimal.ts';
import { parseParameters } from './http/parse-parameters.ts';
import { parseJson } from './http/read-json.ts';

const NAME_CHARACTERS_MAX = 200;
const FIELD_CHARACTERS_MAX = 100;
/** More than the header of a list can hold in its first bytes. */
const COLUMN_NAME_CHARACTERS_MAX = 10_000;

const column = z.union([z.string().max(COLUMN_NAME_CHARACTERS_MAX), z.number()]);
/** A mapping as a caller sends it. */
export const mapping = z.record(
  z.string().max(FIELD_CHARACTERS_MAX),
  z.union([column, z.array(column).min(1).max(50)]),
);

/** At least `min` names of fields, each once. */
export const fieldNames = (min: number) =>
  z
    .array(z.string().max(FIELD_CHARACTERS_MAX))
    .min(min)
    .max(FIELDS_MAX)
    .transform((names) => [...new Set(names)]);

/** Names of fields, separated by commas. */
export const fieldNamesInText = z
  .string()
  .max(FIELDS_MAX * FIELD_CHARACTERS_MAX)
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(fieldNames(1));

/** A JSON object inside a form field or query parameter. */
function json<Schema extends z.ZodType>(schema: Schema, example: string) {
  return z.string().transform((text, issues): z.output<Schema> => {
    try {
      const parsed = schema.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
    } catch {
      // Not JSON: the issue below describes the expected form.
    }
    issues.addIssue({ code: 'custom', message: `must be JSON such as ${example}` });
    return z.NEVER;
  });
}

/** The name of a list, an export or a schedule, after which downloads are named. */
export const batchName = z.string().overwrite(plainName).min(1).max(NAME_CHARACTERS_MAX);

/** A yes or no in a query or a form. */
export const flag = z.enum(['true', 'false']);

/** A country by ISO code or name, converted to the ISO code. */
export const country = z.string().transform((text, issues): string => {
  const code = countryCode(text);
  if (code !== null) return code;
  issues.addIssue({ code: 'custom', message: 'must be a country, by ISO code or name' });
  return z.NEVER;
});

/** A text for one of the parsers of CSV options; an error of the parser becomes the issue. */
function parsed<Value>(parse: (text: string) => Value) {
  return z
    .string()
    .max(100)
    .transform((text, issues): Value => {
      try {
        return parse(text);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // The issue itself names the option; the message of the error would do so again.
        const message = error.errors[0]?.message ?? error.message;
        issues.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    });
}

export const encoding = parsed(parseEncoding);
export const delimiter = parsed(parseDelimiter);

/** The row with the names of the columns. */
export const headerRow = decimal(z.number().int().min(0).max(1_000_000)).meta({
  description:
    'Number of the row with the column names, from 1 as a spreadsheet counts; rows above it are not part of the list. `0`: no header row. Detected when omitted.',
});

/** The sheet of a workbook. */
export const sheet = z.string().trim().min(1).max(200).meta({
  description: 'Name of the sheet of a workbook, or its number from 1; hidden sheets do not count.',
});

/** How rows are matched. */
export const matchMode = z.enum(matchModes).meta({
  description:
    '`exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place.',
});

/** The probability that a likely match needs. */
export const minProbability = decimal(z.number().min(0.5).max(1)).meta({
  description: 'The probability that a likely match needs, from 0.5 to 1. Default 0.95.',
});

/** The options of a batch, as form fields or as query parameters. */
export const batchOptions = z.strictObject({
  operation: z.string().refine(isOperationName, {
    error: `must be one of ${Object.keys(operations).join(', ')}`,
  }),
  mapping: json(mapping, '{"email": "Column name"}').optional(),
  name: batchName.optional(),
  fields: fieldNamesInText.optional(),
  default_region: country.optional(),
  country: country.optional(),
  encoding: encoding.optional(),
  delimiter: delimiter.optional(),
  header: flag
    .optional()
    .meta({ description: '`true` is `header_row=1`, `false` is `header_row=0`.' }),
  header_row: headerRow.optional(),
  sheet: sheet.optional(),
  hold: flag.optional(),
  allow_unmapped: flag.optional().meta({
    description:
      'With `hold`: accepts a file without a column to match on. It cannot be quoted or started before a `mapping` names one.',
  }),
  dedupe: flag.optional(),
  match: matchMode.optional(),
  min_probability: minProbability.optional(),
  require_agreement: flag.optional(),
  required: fieldNamesInText.optional().meta({
    description:
      'Fields of the record. A row whose record lacks any of them is `no_match`, and costs nothing.',
  }),
  max_credits: decimal(z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)).optional(),
});

/**
 * Reads the options of an upload. The batch gets the name `fileName` unless an option sets one. Throws `AppError` 400
 * that names each invalid or unknown option.
 */
export function readBatchOptions(
  values: Record<string, unknown>,
  fileName: string | null,
): { request: ListRequest; dialect: DialectRequest } {
  const options = parseParameters(batchOptions, values);
  const request: ListRequest = {
    operation: options.operation as ListRequest['operation'],
    name: options.name ?? fileName?.slice(0, NAME_CHARACTERS_MAX) ?? 'list.csv',
    mapping: options.mapping ?? null,
    allowUnmapped: options.hold === 'true' && options.allow_unmapped === 'true',
    fields: options.fields ?? null,
    defaultRegion: options.default_region ?? null,
    country: options.country ?? null,
    maxCredits: options.max_credits ?? null,
    hold: options.hold === 'true',
    dedupe: options.dedupe === 'true',
    match: options.match ?? 'exact',
    minProbability: options.min_probability ?? MIN_PROBABILITY_DEFAULT,
    requireAgreement: options.require_agreement === 'true',
    required: options.required ?? null,
    rerunOf: null,
  };
  const { encoding, delimiter, sheet } = options;
  const dialect: DialectRequest = { encoding, delimiter, headerRow: headerRowOf(options), sheet };
  return { request, dialect };
}

/** `header` is another way to send `header_row` 0 or 1. Throws `AppError` 400 for both. */
function headerRowOf({ header, header_row }: z.output<typeof batchOptions>): number | undefined {
  if (header === undefined) return header_row;
  if (header_row === undefined) return header === 'true' ? 1 : 0;
  throw invalidParameter('header_row', 'send header_row or header, not both');
}
