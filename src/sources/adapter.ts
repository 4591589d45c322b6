/** The interface of an adapter: it turns the files of one source into rows for the import. */
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import type { SourcePart } from './source-files.ts';

/** The first part of a file, for recognising it. */
export interface PartHead {
  name: string;
  /** The first 64 KiB as text. */
  text: string;
}

/** The kind of a file, and how it is read. */
export interface Dataset {
  /** Prefixes of the keys of which the file holds everything, null for a file of changes. */
  snapshotOf: readonly string[] | null;
  /** Columns that its files have; by them files of changes of one source differ, such as contacts and companies. */
  columns?: readonly string[];
  /** Day of the data, when the file itself has it. */
  asOf?: string;
  /** Yields the rows of all parts. Throws `AppError` for a file that must not be imported. */
  read(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]>;
}

export interface Adapter {
  name: string;
  /** Returns the dataset that the file is, or null for a file of another source. */
  recognise(head: PartHead): Dataset | null;
}
