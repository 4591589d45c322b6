/** The records that changed since a copy was built, in memory: the copy is not asked about them. */
import type { GraphState } from '../graph/graph-state.ts';
import type { ChangesSince } from './copy.sql.ts';
import type { Entity } from './manifest.ts';

/** With more changed records than this Postgres answers for all, until the copy is rolled forward. */
export const CHANGED_MAX = 20_000;

/** A record that has a value, under a code. */
interface Holder {
  code: number;
  id: number;
}

const NONE: readonly Holder[] = [];

/** A line of `ChangesSince.identifiers`. */
const IDENTIFIER = /^(?<code>\d+) (?<id>\d+) (?<value>.*)$/;

/** The changed records of one kind. */
export class ChangedRecords {
  /** The values of each changed record. */
  readonly #values = new Map<number, string[]>();
  readonly #holders = new Map<string, Holder[]>();

  get size(): number {
    return this.#values.size;
  }

  has(id: number): boolean {
    return this.#values.has(id);
  }

  /** Returns the changed records that have a value. */
  holdersOf(value: string): readonly Holder[] {
    // So it is for most lists: no record has changed.
    return (this.#holders.size === 0 ? undefined : this.#holders.get(value)) ?? NONE;
  }

  /** Adds records that changed later, with their identifiers now: lines `<code> <id> <value>`, null for none. */
  add(ids: readonly number[], identifiers: string | null): void {
    for (const id of ids) {
      for (const value of this.#values.get(id) ?? []) this.#removeHolder(value, id);
      this.#values.set(id, []);
    }
    for (const line of identifiers?.split('\n') ?? []) {
      const { code = '', id = '', value = '' } = IDENTIFIER.exec(line)?.groups ?? {};
      const holder = { code: Number(code), id: Number(id) };
      this.#values.get(holder.id)?.push(value);
      const holders = this.#holders.get(value);
      if (holders === undefined) this.#holders.set(value, [holder]);
      else holders.push(holder);
    }
  }

  #removeHolder(value: string, id: number): void {
    const left = (this.#holders.get(value) ?? []).filter((holder) => holder.id !== id);
    if (left.length === 0) this.#holders.delete(value);
    else this.#holders.set(value, left);
  }
}

/** The changes between the state of a copy and a later one. */
export class ChangedGraph implements Record<Entity, ChangedRecords> {
  readonly people = new ChangedRecords();
  readonly companies = new ChangedRecords();
  #state: GraphState;

  /** Begins with no changes, at the state of the copy. */
  constructor(state: GraphState) {
    this.#state = state;
  }

  /** The state that is reached. */
  get state(): GraphState {
    return this.#state;
  }

  get size(): number {
    return this.people.size + this.companies.size;
  }

  /** Adds the changes that follow the state which is reached. */
  add({ state, people, companies }: ChangesSince): void {
    this.people.add(people.ids, people.identifiers);
    this.companies.add(companies.ids, companies.identifiers);
    this.#state = state;
  }
}
