/** The search patterns that find a person in a text. Pure. */
import { identifierKinds } from '../../core/identifiers/identifier.ts';
import { type PersonIdentifier, personCodesOf } from '../../core/suppression/suppress.ts';

export interface Needle {
  kind: string;
  /** Every text with the identifier contains one of these, in lower case. */
  parts: readonly string[];
  /** Distinguishes the identifier from a longer one that contains it. */
  exact: RegExp;
}

/** Finds a mention of an identifier: an email address by itself, a handle only where it is written as one. */
export function needleOf({ kind, value }: PersonIdentifier): Needle {
  const text = value.toLowerCase();
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const {
    prefixes = [''],
    before = '(?<![\\w-])',
    after = '(?![\\w-]|\\.\\w)',
  } = identifierKinds[kind].person?.mention ?? {};
  return {
    kind,
    parts: prefixes.map((prefix) => prefix + text),
    exact: new RegExp(before + escaped + after),
  };
}

/** Finds an identifier where a local copy of the graph holds it: see `record-block.ts`. */
export function blockNeedleOf({ kind, value }: PersonIdentifier): Needle {
  const parts = personCodesOf(kind).map(
    (code) => `${String.fromCharCode(code)}${value.toLowerCase()}\n`,
  );
  return { kind, parts, exact: /^/ };
}

/** Kinds of the identifiers found in a lower-case text. */
export function kindsIn(text: string, needles: readonly Needle[]): string[] {
  return needles
    .filter(({ parts, exact }) => parts.some((part) => text.includes(part)) && exact.test(text))
    .map(({ kind }) => kind);
}
