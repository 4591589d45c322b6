/** The query of a person search, for the documentation; `core/search/parse.ts` parses it. */
import { z } from 'zod';
import { excludable } from '../core/search/fields.ts';
import { flag } from './batch-options.ts';

const list = (meaning: string) => z.string().optional().describe(meaning);

/** The filters of the specification. Every field of the record is a filter too: see docs/api.md. */
export const filterQuery = z.object({
  locationIds: list('Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations'),
  industryIds: list('Industries; ids of /v1/lookups/industries'),
  positionIds: list('Positions; ids of /v1/lookups/job-titles'),
  emailTypeId: list('Has an email: 1 work, 2 private'),
  phoneTypeId: list('Has a number: 1 mobile, 2 telephone'),
  locationList: list('Places, `[London:GB|:France]`'),
  industryList: list('Names of industries, `[Oil & Gas|Retail]`'),
  positionList: list('Names of positions, `[Engineer|CEO]`'),
  isFB: list('1: has a social_a id'),
  isX: list('1: has a microblog handle'),
  headCount: list('Ranges that the company is in, `[50-249|1,000-]`'),
  ageRange: list('Ranges of years of age, `[25-34|60-]`'),
  gender: list('1 or male, 2 or female'),
  experience: list('Years, `[3|5-9]`'),
  salary: list('Ranges that overlap, `[45,000-55,000]`'),
  skills: list('All of these skills, `[SQL|C++]`'),
  companyId: list('Current companies, `[1|2]`'),
  ...Object.fromEntries(
    [...excludable].map((name) => [`not.${name}`, list(`Leaves out the people of \`${name}\``)]),
  ),
  'not.owned': list('1: leaves out people whom the account has paid for in its `owned_days`'),
});

export const pageQuery = {
  limit: z.number().int().min(1).max(1000).default(100).optional(),
  skip: z.number().int().min(0).optional(),
  cursor: z.string().optional(),
  sort: z
    .string()
    .optional()
    .describe(
      '`id` (default), `whenUpdated`, `createdAt` or `surname`; `-whenUpdated` for the latest first',
    ),
  count: flag.optional(),
  partial: flag.optional(),
  fields: z.string().optional().describe('Fields of each person, `name,company.name,city`'),
};
