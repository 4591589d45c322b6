/** The properties of reconciliation: cells that help a query, and fields that extend a row. */
import { companyFields, personFields } from '../../core/graph/fields.ts';
import type { EntityType } from './entity.ts';

interface Property {
  id: string;
  name: string;
  description?: string;
}

/** Properties of queries, by the kind of column that a list maps to them. */
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
    { id: 'title', name: 'Job title' },
    { id: 'city', name: 'Town' },
    { id: 'country', name: 'Country' },
    { id: 'email', name: 'E-mail' },
    { id: 'professional_network', name: 'Profile' },
    { id: 'phone', name: 'Phone' },
    { id: 'twitter', name: 'Handle' },
  ],
};

/** Returns the properties that queries of these types take and whose id or name begins with the text, each once. */
export function findQueryProperties(types: readonly EntityType[], text: string): Property[] {
  const wanted = text.trim().toLowerCase();
  const found = new Map<string, Property>();
  for (const property of types.flatMap((type) => queryProperties[type])) {
    const begins = (name: string) => name.toLowerCase().startsWith(wanted);
    if (begins(property.id) || begins(property.name)) found.set(property.id, property);
  }
  return [...found.values()];
}

/** Returns the fields of the records of a type. */
export function fieldProperties(type: EntityType): Property[] {
  const fields = type === 'person' ? personFields : companyFields;
  return fields.map(({ name, description }) => ({ id: name, name, description }));
}
