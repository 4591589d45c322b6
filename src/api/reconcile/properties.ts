/** The properties of reconciliation: cells that help a query, and fields that extend a row. */
import { companyFields, personFields } from '../../core/graph/fields.ts';
import type { EntityType } from './entity.ts';

interface Property {
  id: string;
  name: string;
  description?: string;
}

/**
 * Properties of queries, by the kind of column that a list maps to them. One that is also a field has the field's id: the
 * same search box of OpenRefine chooses the columns that are added.
 */
const queryProperties: Record<EntityType, readonly Property[]> = {
  company: [
    { id: 'city', name: 'Town' },
    { id: 'country', name: 'Country' },
    { id: 'domain', name: 'Domain' },
    { id: 'registry_number', name: 'Registry number' },
    { id: 'professional_network', name: 'Profile' },
    { id: 'phone', name: 'Phone' },
  ],
  person: [
    { id: 'company_name', name: 'Company' },
    { id: 'position', name: 'Job title' },
    { id: 'city', name: 'Town' },
    { id: 'country', name: 'Country' },
    { id: 'email', name: 'Email' },
    { id: 'professional_network', name: 'Profile' },
    { id: 'phone', name: 'Phone' },
    { id: 'twitter', name: 'Handle' },
  ],
};

/** Returns the kind of column of a property: `title` of `position`, which clients also send as it was called before. */
export function columnKind(property: string): string {
  return property === 'position' ? 'title' : property;
}

/**
 * Returns the properties that queries of these types take, and `withFields` the fields of their records, of which the id
 * or a word of the name begins with the text; each once.
 */
export function findProperties(
  types: readonly EntityType[],
  text: string,
  withFields: boolean,
): Property[] {
  const wanted = text.trim().toLowerCase();
  const begins = ({ id, name }: Property) =>
    `${id} ${name}`
      .toLowerCase()
      .split(' ')
      .some((_, at, words) => words.slice(at).join(' ').startsWith(wanted));
  const all = types.flatMap((type) => queryProperties[type]);
  if (withFields) all.push(...types.flatMap(fieldProperties));
  const found = new Map<string, Property>();
  for (const property of all) {
    if (!found.has(property.id) && begins(property)) found.set(property.id, property);
  }
  return [...found.values()];
}

/** Returns the fields of the records of a type. */
export function fieldProperties(type: EntityType): Property[] {
  const fields = type === 'person' ? personFields : companyFields;
  return fields.map(({ name, description }) => ({ id: name, name, description }));
}
