/** The records of sources: what an adapter hands to the import, one row of a file at a time. */
import type { JsonRecord } from '../import/read-records.ts';
import type { SourceEntity } from '../source-entities.ts';

/** Codes of `import_rows.state`. */
export const rowStates = { record: 0, ended: 1, seen: 2, optedOut: 3 } as const;

/** A record in the fields of import files, without an id, under its key in the source. */
export interface SourceRecord {
  entity: SourceEntity;
  /** Unique among all records of the source, whatever their entity; a `heldKey` where the source has none. */
  key: string;
  record: JsonRecord;
  /**
   * The company of a person, an officer or a period: values of `companyReference`, in the order to try. The first
   * that one company holds counts.
   */
  company?: readonly string[];
  /** Values of `keyReference`: the record is a part of those, such as a list with some of their columns. */
  sameAs?: readonly string[];
  /** The key of the person of this source that an officer is. */
  person?: string;
}

/** The outcome of one row of a file. Each is counted once. */
export type SourceRow = { line: number } & (
  | {
      /** The row's record, and others that it describes, such as the person of an officer; only the first counts. */
      records: readonly [SourceRecord, ...SourceRecord[]];
      /** Records that it replaces. */
      ends?: readonly (readonly [SourceEntity, string])[];
    }
  /** The source says that its record is gone. */
  | { ended: readonly [entity: SourceEntity, key: string] }
  | {
      reason: string;
      field?: string;
      /** The record, for the rejects. */
      source: unknown;
      /** Keys of records that the row may name: they are not gone, though it cannot be read, nor are the people that they are. */
      seen?: readonly string[];
    }
  /**
   * Someone who must not be contacted, by email, phone with country code or profile URL, or a record that must not
   * be shown: it becomes no record, and ends those with these keys.
   */
  | { optedOut: readonly string[]; keys: readonly (readonly [SourceEntity, string])[] }
);

/** The `seen` of a rejected row; nothing when it names no record. */
export function seenOf(...keys: readonly (string | undefined)[]): { seen?: readonly string[] } {
  const seen = keys.filter((key) => key !== undefined);
  return seen.length === 0 ? {} : { seen };
}

/** Between the parts of a `heldKey`; in no text that people write. */
export const HOLDER_MARK = '\u001f';

/**
 * The key of a record without one of its own: an address, with the folded name of its holder. The import makes it the key of
 * the record that already has this name at the address; two names at one address are two records.
 */
export function heldKey(address: string, holder: string): string {
  return `${address}${HOLDER_MARK}${holder}`;
}

/** The value by which records refer to a company by its number in a register. */
export function registryReference(canonicalNumber: string): string {
  return `registry:${canonicalNumber}`;
}

/** The value by which records of a source refer to another record of the same source. */
export function keyReference(source: string, key: string): string {
  return `key:${source}/${key}`;
}
