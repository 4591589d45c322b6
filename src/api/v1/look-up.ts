import { z } from 'zod';
import {
  type LookupKind,
  type LookupType,
  type LookupValue,
  lookUp,
  lookUpIds,
  lookupKinds,
  lookupTypes,
} from '../../core/lookups/look-up.ts';
import { discloseCount } from '../../core/search/free-responses.ts';
import { escapeItem } from '../../core/search/parse-items.ts';
import { defineRoute, type Route } from '../http/define-route.ts';
import { lookupQuery } from '../lookup-query.ts';
import { readLookup } from '../read-lookup.ts';

const summaries: Record<LookupKind, string> = {
  'job-titles':
    'Job titles that match a text: those with the ids for `positionIds`, and those that people have',
  locations: 'Cities, regions and countries that match a text',
  industries: 'Industries that match a text, with the ids for `industryIds`',
};

const parameterOf: Readonly<Record<LookupType, string>> = {
  position: 'positionIds',
  city: 'locationIds',
  industry: 'industryIds',
  region: 'regionId',
  country: 'countryId',
  title: 'positionList',
};

/** The filter that finds the people of a value, as `parseFilter` reads it after decoding. */
function filterOf({ type, id, name }: LookupValue): string {
  return `${parameterOf[type]}=[${id ?? escapeItem(name)}]`;
}

const lookupSchema = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.enum(lookupTypes),
      id: z.number().int().nullable().meta({
        description: 'Id of the position, city, industry, region or country; null for a title.',
      }),
      name: z.string(),
      count: z.number().int().meta({
        description: 'About how many people have it, as in a preview; 0 for fewer than ten.',
      }),
      filter: z.string().meta({ description: 'The filter of a search that finds them.' }),
    }),
  ),
});

/** Autocomplete, one route for each kind of value. Free, and metered by the key's limits. */
export const lookUpRoutes: Route[] = lookupKinds.map((kind) =>
  defineRoute({
    method: 'get',
    path: `/v1/lookups/${kind}`,
    summary: summaries[kind],
    scope: null,
    metered: true,
    query: lookupQuery,
    responses: { 200: { description: 'Values, best first.', schema: lookupSchema } },
    async handler({ query, ...input }) {
      const { ids, q: text, limit } = query;
      const found = await readLookup(input, (graph) =>
        ids === undefined ? lookUp(graph, kind, { text, limit }) : lookUpIds(graph, kind, ids),
      );
      const data = found.map((value) => ({
        ...value,
        count: discloseCount(value.count),
        filter: filterOf(value),
      }));
      return { status: 200, body: { data } };
    },
  }),
);
