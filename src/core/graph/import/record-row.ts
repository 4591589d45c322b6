/** One person or company of an import, ready for the stage: COPY text and its dependents. */
import type { BatchRow } from './batch.ts';
import { copyLine } from './copy-text.ts';

export interface RecordRow extends BatchRow {
  id: number;
  /** Cells of the table's columns. */
  cells: string;
  /** COPY lines of the look-up table. */
  identifiers: string;
  /** Keys of the names of a company; null for a person, whose keys are computed from the stored names. */
  nameKeys: readonly number[] | null;
  /** COPY lines of the officers that the record names; null when it names none at all. */
  officers: string | null;
}

/**
 * Identifiers of one record, full trust before lower trust: in each group of kinds a value is kept
 * once, as the kind that was added first.
 */
export class IdentifierSet {
  readonly #kinds = new Map<string, number>();
  readonly #values: { kind: number; value: string }[] = [];
  readonly #id: number;
  #lines = '';

  constructor(id: number) {
    this.#id = id;
  }

  /** `group` names kinds with the same sort of value, such as email and work email. */
  add(group: string, kind: number, value: string): void {
    const key = `${group}:${value}`;
    if (this.#kinds.has(key)) return;
    this.#kinds.set(key, kind);
    this.#values.push({ kind, value });
    this.#lines += copyLine([value, kind, this.#id]);
  }

  /** The values of one kind, in the order of their index. */
  valuesOf(kind: number): string[] {
    return this.#values.flatMap((one) => (one.kind === kind ? [one.value] : [])).sort();
  }

  /** COPY lines `value, kind, id`. */
  lines(): string {
    return this.#lines;
  }
}
