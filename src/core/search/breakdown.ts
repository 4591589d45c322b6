/**
 * The groups of people that a search finds, before payment: by country, industry and company size, and as rows of people
 * who are alike. Groups are disclosed as everything free is: rounded, and none of fewer than ten.
 */
import { z } from 'zod';
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { presenceBit } from './compile.sql.ts';
import { discloseCount, FEW } from './free-responses.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import { type GroupRow, selectGroups } from './search.sql.ts';

/** The contact data that a row says of its people. */
const shownFields = ['workEmail', 'email', 'mobile', 'phone', 'professional_network'] as const;

/** Company sizes by the lower end of their range. */
const sizes = [
  { from: 1, name: '1-10' },
  { from: 11, name: '11-50' },
  { from: 51, name: '51-200' },
  { from: 201, name: '201-500' },
  { from: 501, name: '501-1,000' },
  { from: 1001, name: '1,001-5,000' },
  { from: 5001, name: '5,001-10,000' },
  { from: 10_001, name: '10,001 or more' },
];

const text = z.string().nullable();
const group = z.strictObject({
  name: text.meta({ description: 'Null when unknown.' }),
  people: z.number().int(),
});

/** The JSON of a breakdown. */
export const breakdownSchema = z.strictObject({
  countries: z.array(group),
  industries: z.array(group),
  company_sizes: z.array(group),
  rows: z
    .array(
      z.strictObject({
        title: text,
        company_size: text,
        country: text,
        people: z.number().int(),
        fields: z.record(z.string(), z.number().int()),
      }),
    )
    .meta({
      description:
        'The largest groups of people with the same title, company size and country, and about how many of each have a field.',
    }),
});
export type Breakdown = z.output<typeof breakdownSchema>;

/** Returns the largest groups of the people of a filter. */
export async function breakDown(sql: Sql, prepared: PreparedFilter): Promise<Breakdown> {
  const groups = await selectGroups(sql, prepared, {
    sizesFrom: sizes.map(({ from }) => from),
    bits: shownFields.map((name) => must(presenceBit(name) ?? undefined, name)),
    peopleMin: FEW,
  });
  const by = (kind: GroupRow['kind']) => groups.filter((row) => row.kind === kind);
  const sizeOf = ({ size }: GroupRow) => (size === 0 ? null : must(sizes[size - 1], 'size').name);
  const groupsOf = (kind: GroupRow['kind'], nameOf: (row: GroupRow) => string | null) =>
    by(kind).map((row) => ({ name: nameOf(row), people: discloseCount(row.people) }));
  return {
    countries: groupsOf('country', ({ country }) => country),
    industries: groupsOf('industry', ({ industry }) => industry),
    company_sizes: groupsOf('size', sizeOf),
    rows: by('row').map((row) => ({
      title: row.title,
      company_size: sizeOf(row),
      country: row.country,
      people: discloseCount(row.people),
      fields: Object.fromEntries(
        shownFields.map((name, at) => [
          name,
          discloseCount(Math.min(row.people, row.present[at] ?? 0)),
        ]),
      ),
    })),
  };
}
