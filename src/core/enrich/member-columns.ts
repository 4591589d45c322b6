/**
 * Columns of single values inside the objects of a record, so that an employer or a city is a plain cell. Their names are
 * the paths of filters (`company.name`, `cities.countries.name`), and four plain names: `city`, `region`, `country` and
 * `industry`.
 */
import { type FieldType, objectMembers, type RecordField } from '../graph/fields.ts';
import { must } from '../lib/assert.ts';

export interface Member {
  name: string;
  type: FieldType;
  /** Returns the value inside the objects of a record, which `read` returns by name; null when it is unknown. */
  readFrom(read: (object: string) => unknown): string | number | null;
  /** Names of the fields whose objects are read. */
  objects: readonly string[];
}

/** The first path with a known value counts: a person may have a country without a city, or the reverse. */
const plainPaths: Readonly<Record<string, readonly string[]>> = {
  city: ['cities.name'],
  region: ['regions.name', 'cities.regions.name'],
  country: ['countries.name', 'cities.countries.name'],
  industry: ['industries.name'],
};

/** Between the values of a list of references. */
const LIST_SEPARATOR = '; ';

/** Returns the members of the objects that a record has. */
export function membersOf(fields: readonly RecordField[]): Member[] {
  const names = new Set(fields.map(({ name }) => name));
  const own = Object.entries(objectMembers).filter(([object]) => names.has(object));
  const members = own.flatMap(([object, paths]) => {
    const isList = object.endsWith('Companies');
    return Object.entries(paths).map(([path, type]) =>
      member(`${object}.${path}`, isList ? 'text' : type, [`${object}.${path}`]),
    );
  });
  const plain = Object.entries(plainPaths).map(([name, paths]) => member(name, 'text', paths));
  return [...members, ...plain];
}

function member(name: string, type: FieldType, paths: readonly string[]): Member {
  const split = paths.map((path) => path.split('.'));
  const objects = split.map(([object]) => must(object, 'object of a path'));
  return {
    name,
    type,
    objects,
    readFrom(read) {
      for (const [object = '', ...rest] of split) {
        const value = valueAt(read(object), rest);
        if (value !== null) return value;
      }
      return null;
    },
  };
}

/** Returns the value at a path; null for an unknown one. The values of a list are one text. */
function valueAt(object: unknown, path: readonly string[]): string | number | null {
  if (Array.isArray(object)) {
    const values = object.map((item) => valueAt(item, path)).filter((value) => value !== null);
    return values.length === 0 ? null : values.join(LIST_SEPARATOR);
  }
  // An unknown city has the id 0, and a time that means nothing.
  if (object === null || (object as { id?: unknown }).id === 0) return null;
  const value = path.reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | null)?.[name] ?? null,
    object,
  );
  return value === '' || value === 0 ? null : (value as string | number | null);
}
