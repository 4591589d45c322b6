/**
 * The description of an identifier kind. Each kind has one file with its normaliser and its description, and one line
 * in the table of `identifier.ts`; the look-up tables, matching, opt-outs, column guesses and documents derive from it.
 */
import type { Normalised } from './normalised.ts';

export interface NormaliseContext {
  /** The kind of profile that a profile URL must be. */
  subject: 'person' | 'company';
  /** ISO 3166 alpha-2 region of national phone numbers. */
  region?: string;
  /** ISO 3166 alpha-2 country of the register of registry numbers; default GB. */
  registryCountry?: string;
  /** The text is a query parameter, where an unescaped `+` arrives as a space. */
  fromQuery?: boolean;
}

export interface KindDescription {
  /** Name in the console. */
  label: string;
  /** A sentence for the API's document. */
  parameter: string;
  /** Forms that are read as the same value, for `docs/concepts.md`. */
  forms: string;
  /**
   * Returns the canonical values of a text, in the order to try, or the reason why it has none. Never throws; takes
   * time linear in the length. The first value normalises to itself.
   */
  normalise(text: string, context: NormaliseContext): Normalised;
  /** Values depend on `region` or `registryCountry`. */
  dependsOnCountry?: true;
  /** A cell may hold several values, each of which belongs to the record; of other kinds the first reading is stored. */
  holdsSeveral?: true;
  /**
   * Two records may have the value, one now and one in the past, and a list does not state which it means: all codes
   * give candidates, and the code only names the match.
   */
  isShared?: true;
  /** Returns true for a text, trimmed, that people and programs write where there is no value, besides those of every kind. */
  isNone?(text: string): boolean;
  /** Returns true for a usable text that a spreadsheet damaged. */
  isRepaired?(text: string): boolean;
  /** Returns the identifier of a word of test mode, or of its number, as a caller sends it. */
  testIdentifier(word: string, number: string): string;
  /** Absent for a kind that identifies no people. */
  person?: PersonIdentifiers;
  /** Absent for a kind that identifies no companies. */
  company?: { stored: readonly StoredCode[] };
  /** Absent where a column of the kind is one of names. */
  column?: ColumnSigns;
}

interface PersonIdentifiers {
  stored: readonly StoredCode[];
  /** Recognises an opt-out of the kind; kinds are tried in the order of their table. */
  optOut: RegExp;
  /** Name in the message about an opt-out that no kind recognises. */
  optOutName: string;
  /** How a text mentions a value; without it as a word of its own. */
  mention?: Mention;
}

/** A code of the look-up table, best trust first: a record has each value once, under the first code. */
export interface StoredCode {
  name: string;
  /** Stored, so never renumbered and never reused: see `identifier-kinds.ts`. */
  code: number;
  /** Names the match; without it `name` does. Neighbours with the same name are one level of trust. */
  by?: string;
  /** Fields of an imported record that hold the value. */
  fields?: readonly string[];
  /** All values of companies that no longer exist, at a level of its own: they never displace a living company. */
  isOfDissolved?: true;
}

/** How a text in lower case mentions a value. */
interface Mention {
  /** Texts before the value: a search for the value with each of them finds every mention. */
  prefixes?: readonly string[];
  /** Patterns of what precedes and follows it, in contrast to a longer identifier that contains it. */
  before?: string;
  after?: string;
}

/** How a column of a list shows that it holds the kind. */
export interface ColumnSigns {
  /** Words of column names, as in `column-words.ts`. */
  words: string;
  /** The content of cells in a message. */
  plural: string;
  /** Returns what a filled cell, trimmed, can be; time linear in its length. */
  contentOf(cell: string, context: NormaliseContext): CellContent;
  /** Cells of the kind are unambiguous, whatever the header says. */
  isUnmistakable?: true;
  /** A cell that is certainly of another kind is not certainly of this one. */
  yields?: true;
  /** Share of certain cells that makes a column one of the kind; usually 0.6. */
  shareMin?: number;
  /** Cells are only certain in a column of which a tenth has this form. */
  tellingForm?: RegExp;
}

/**
 * `certain`: can hardly be anything else, the basis of guesses from content alone. `possible`: the normaliser could use
 * it. `other_subject`: certain, but of a company in a list of people or the reverse.
 */
export type CellContent = 'certain' | 'possible' | 'other_subject' | null;

/** Handles are mentioned where they are written as one. */
export const handleMention: Mention = {
  prefixes: ['/in/', '/pub/', '@', 'x.com/', 'twitter.com/'],
  before: '(?:/in/|/pub/|x\\.com/|twitter\\.com/|(?<!\\w)@)',
};
