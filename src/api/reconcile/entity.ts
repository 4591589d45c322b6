/** The entities of reconciliation: people and companies, whose ids are `person-4711` and `company-4711`. */
import { invalidParameter } from '../../core/lib/errors.ts';

/** The types, with the operation by which each is matched and read. */
export const entityTypes = {
  company: { id: 'company', name: 'Company', operation: 'companies.enrich' },
  person: { id: 'person', name: 'Person', operation: 'people.enrich' },
} as const;
export type EntityType = keyof typeof entityTypes;

export interface Entity {
  type: EntityType;
  id: number;
}

/** One text for each id: another spelling would be charged as another record. */
const ENTITY_ID = /^(company|person)-([1-9]\d{0,14})$/;

export function entityId({ type, id }: Entity): string {
  return `${type}-${id}`;
}

/** Parses the text of an id. Throws `AppError` 400 that names the field. */
export function parseEntityId(field: string, text: string): Entity {
  const [, type, id] = ENTITY_ID.exec(text) ?? [];
  if (type === undefined) {
    throw invalidParameter(field, 'must be an id of this service, such as company-4711');
  }
  return { type: type as EntityType, id: Number(id) };
}

export function viewType(type: EntityType): { id: string; name: string } {
  const { id, name } = entityTypes[type];
  return { id, name };
}
