/** The search patterns that find a person in a text. Pure. */
import { type PersonIdentifier, personCodesOf } from '../../core/suppression/suppress.ts';

export interface Needle {
  kind: string;
  /** Every text with the identifier contains one of these, in lower case. */
  parts: readonly string[];
  /** Distinguishes the identifier from a longer one that contains it. */
  exact: RegExp;
}

/** E-mail addresses and phone numbers match by themselves; a handle only where it is written as one. */
export function needleOf({ kind, value }: PersonIdentifier): Needle {
  const text = value.toLowerCase();
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (kind === 'email') {
    const exact = new RegExp(`(?<![\\w.%+-])${escaped}(?![\\w-]|\\.\\w)`);
    return { kind, parts: [text], exact };
  }
  if (kind === 'phone') return { kind, parts: [text], exact: new RegExp(`${escaped}(?!\\d)`) };
  return {
    kind,
    parts: [`/in/${text}`, `/pub/${text}`, `@${text}`, `x.com/${text}`, `twitter.com/${text}`],
    exact: new RegExp(
      `(?:/in/|/pub/|x\\.com/|twitter\\.com/|(?<!\\w)@)${escaped}(?![\\w-]|\\.\\w)`,
    ),
  };
}

/** Finds an identifier where a local copy of the graph holds it: see `person-block.ts`. */
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
