/** An endpoint that returns a list in pages, declared by its rows and its cursor. */
import { z } from 'zod';
import { inReadingTurn } from '../../jobs/list/reading-turns.ts';
import { decimal } from './decimal.ts';
import { defineRoute, type Route, type RouteDefinition, type RouteInput } from './define-route.ts';
import { readerOf } from './reader-of.ts';

/** A page ends before this many bytes of JSON, but has one item at least. Callers choose how long an item is. */
const PAGE_BYTES_MAX = 1024 * 1024;

interface PageDefinition<
  Row,
  Item extends z.ZodType,
  Filter extends z.ZodRawShape,
  Params extends z.ZodType,
  Cursor,
> extends Pick<
    RouteDefinition<z.ZodType, Params, undefined, never>,
    'path' | 'summary' | 'scope' | 'params'
  > {
  /** For the OpenAPI document: "A page of keys." */
  description: string;
  item: Item;
  /** Query parameters other than `limit` and `cursor`. */
  filter?: Filter;
  /** Number of items in a page. */
  limit?: { default: number; max: number };
  /** True for pages that take the thread for milliseconds, with many items or long ones: they wait for a turn of the account. */
  inTurn?: true;
  /** The schema of a cursor, which parses it. */
  cursor: z.ZodType<Cursor, string>;
  cursorOf(row: Row): string;
  view(row: Row): z.output<Item>;
  /**
   * Returns the rows after the cursor, at most `limit`: one more than a page has. It may stop after the row with which their
   * JSON has more than `bytesMax`.
   */
  read(
    input: RouteInput<z.output<z.ZodObject<Filter>>, z.output<Params>>,
    page: { before: Cursor | null; limit: number; bytesMax: number },
  ): Promise<Row[]>;
}

/** The JSON of a page. */
const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() });

/** Declares an endpoint that returns `{data, next_cursor}`; the cursor is null after the last item. */
export function definePage<
  Row,
  Item extends z.ZodType,
  Cursor,
  Filter extends z.ZodRawShape = Record<never, never>,
  Params extends z.ZodType = z.ZodObject<Record<never, never>>,
>(definition: PageDefinition<Row, Item, Filter, Params, Cursor>): Route {
  const { description, item, filter, limit, inTurn, cursor, cursorOf, view, read, ...route } =
    definition;
  const { default: usual, max } = limit ?? { default: 20, max: 100 };
  const steering = {
    limit: decimal(z.number().int().min(1).max(max)).default(usual),
    cursor: cursor.optional(),
  };
  return defineRoute({
    ...route,
    method: 'get',
    responseBytesMax: PAGE_BYTES_MAX,
    query: z.strictObject({ ...filter, ...steering }),
    responses: { 200: { description, schema: pageOf(item) } },
    async handler(input) {
      const wanted = input.query as unknown as z.output<z.ZodObject<typeof steering>>;
      const makePage = async () => {
        const rows = await read(input as unknown as Parameters<typeof read>[0], {
          before: wanted.cursor ?? null,
          limit: wanted.limit + 1,
          bytesMax: PAGE_BYTES_MAX,
        });
        const data = fitting(rows.slice(0, wanted.limit).map(view));
        const last = rows[data.length - 1];
        const hasMore = rows.length > data.length && last !== undefined;
        return { data, next_cursor: hasMore ? cursorOf(last) : null };
      };
      if (!inTurn) return { status: 200, body: await makePage() };
      return { status: 200, body: await inReadingTurn(readerOf(input), makePage) };
    },
  });
}

/** The first items, up to the maximum of a page. */
function fitting<Item>(items: Item[]): Item[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return bytes > PAGE_BYTES_MAX && index > 0;
  });
  return end === -1 ? items : items.slice(0, end);
}
