/** Extends reconciled rows with fields of their records: each record is charged as a single call. */
import { z } from 'zod';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { matchToJson } from '../../core/enrich/match-data.ts';
import { checkMobileField } from '../../core/enrich/mobile-in-records.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { findPresentIds } from '../../core/graph/merged-ids.ts';
import { invalidParameter } from '../../core/lib/errors.ts';
import type { RouteInput } from '../http/define-route.ts';
import { parseParameters } from '../http/parse-parameters.ts';
import { type Entity, type EntityType, entityId, entityTypes, parseEntityId } from './entity.ts';
import { enrichAll } from './paid-calls.ts';
import { fieldProperties } from './properties.ts';

/** Maximum records of one call. */
const IDS_MAX = 100;

const extension = z.looseObject({
  ids: z.array(z.string()).max(IDS_MAX),
  // None would be paid for nothing.
  properties: z
    .array(z.looseObject({ id: z.string() }))
    .min(1)
    .max(IDS_MAX),
});
export type Extension = z.output<typeof extension>;

interface Cell {
  str?: string;
  float?: number;
}

/** Parses a query of data. Throws `AppError` 400. */
export function parseExtension(json: unknown): Extension {
  return parseParameters(extension, json);
}

/**
 * Returns the values of the properties for each id. A record that an import has joined with another is asked for, and charged,
 * once for both ids; one of a type that has none of the properties is not. Throws `AppError` 400 for an unknown property, and as
 * `enrichAll`.
 */
export async function extendRows(input: RouteInput, { ids, properties }: Extension) {
  const entities = [...new Set(ids)].map((id) => parseEntityId('ids', id));
  const meta = properties.map(({ id }) => describeProperty(input, id, entities));
  const present = await presentIds(input, entities);
  const wanted = new Set(properties.map(({ id }) => id));
  const records = [...new Set(present)]
    .map((id) => parseEntityId('ids', id))
    .filter(({ type }) => fieldProperties(type).some(({ id }) => wanted.has(id)));
  const outcomes = await enrichAll(
    input,
    records.map(({ type, id }) => ({
      operation: entityTypes[type].operation,
      row: { identifiers: [], invalid: null, decided: id },
      minProbability: null,
    })),
  );
  const cells = new Map(
    records.map((record, index) => [entityId(record), cellsOf(record, outcomes[index], meta)]),
  );
  const rows = entities.map((entity, index) => [
    entityId(entity),
    cells.get(present[index] ?? '') ?? cellsOf(entity, undefined, meta),
  ]);
  return { meta, rows: Object.fromEntries(rows) as Record<string, Record<string, Cell[]>> };
}

/** Returns the texts of the ids that these records have now. */
async function presentIds({ context, key }: RouteInput, entities: readonly Entity[]) {
  const graph = graphOf(context, key.mode === 'live');
  const joined = new Map<string, string>();
  for (const type of Object.keys(entityTypes) as EntityType[]) {
    const ids = entities.filter((entity) => entity.type === type).map(({ id }) => id);
    if (ids.length === 0) continue;
    const found = await findPresentIds(graph, type, ids);
    for (const [id, into] of found)
      joined.set(entityId({ type, id }), entityId({ type, id: into }));
  }
  return entities.map((entity) => joined.get(entityId(entity)) ?? entityId(entity));
}

function describeProperty(
  { context }: RouteInput,
  id: string,
  entities: readonly Entity[],
): { id: string; name: string } {
  const types = new Set(entities.map(({ type }) => type));
  const known = [...types].flatMap((type) => fieldProperties(type));
  if (types.size > 0 && !known.some((property) => property.id === id)) {
    throw invalidParameter(
      'properties',
      `"${id.slice(0, IDS_MAX)}" is not a field of these records`,
    );
  }
  if (types.has('person')) checkMobileField(context.config, 'people.enrich', [id], 'properties');
  return { id, name: id };
}

function cellsOf(
  { type }: Entity,
  outcome: Outcome | undefined,
  meta: readonly { id: string }[],
): Record<string, Cell[]> {
  const match = outcome?.match ?? null;
  const record =
    match === null
      ? {}
      : (JSON.parse(matchToJson(entityTypes[type].operation, match)) as Record<string, unknown>);
  return Object.fromEntries(meta.map(({ id }) => [id, valuesOf(record[id])]));
}

/** The values of a field: of a reference its name, of a list each one; none for an unknown value. */
function valuesOf(value: unknown): Cell[] {
  if (Array.isArray(value)) return value.flatMap(valuesOf);
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'number') return [{ float: value }];
  if (typeof value !== 'object') return [{ str: String(value) }];
  const { name } = value as { name?: unknown };
  return name === undefined ? [{ str: JSON.stringify(value) }] : valuesOf(name);
}
