/**
 * Company names, in a folded form for comparison (not for display):
 * 1. Lower case without accents; `&` is `and`; apostrophes vanish, all other punctuation is a space. Letters of
 * other scripts stay.
 * 2. Words that sources add and omit at will are removed everywhere: legal forms that mean nothing else
 * (`limited`, `inc`, `plc`, `gmbh`), `group`, `holding`, `company`, `the`.
 * 3. Short legal forms are words or initials elsewhere (`AB Dynamics`, `Day Spa Leeds`), so they are removed only
 * from the end, dotted or not: `S.A.`, `N.V.`, `A/S`, `AB (publ)`, `Pte Ltd`. `GmbH & Co. KG` is one form, of a
 * partnership whose partner is a company. Elsewhere the `and` of `& Co` stays: such a firm is often different from
 * the group of the same name.
 * 4. Forms that are written out are removed from the end: `Public Limited Company`, `Société Anonyme`. Signs of marks
 * (`™`) vanish, and so do remarks about its shares or its state at the end: `(NYSE: ADT)`, `(in administration)`.
 * 5. Of `Acme (formerly Apex)`, the name without its remark is tried second: another company may have it too.
 * 6. A name that consists only of such words keeps them all: `The Group`.
 * 7. Refused: a name that was cut (`Flow...`) or of which letters are hidden (`Flo***`), but not one with a note (`Flow*`,
 * `Flow Ltd**`).
 */
import { fold } from '../lib/fold.ts';
import { toNormalForm } from '../lib/normal-form.ts';
import type { KindDescription } from './kind.ts';
import {
  HIDING_SIGNS,
  invalid,
  isTooLong,
  type Normalised,
  oneValue,
  severalValues,
  tidyCell,
} from './normalised.ts';

export const name = {
  label: 'Company name',
  parameter: 'In a look-up, the name of the company; elsewhere, the name of what is created.',
  forms: 'with or without legal form, punctuation and accents, with `&` or "and"',
  normalise: (text) => normaliseCompanyName(text),
  isShared: true,
  testIdentifier: (word) => `Test ${word.replace('-', ' ')} Ltd`,
  company: {
    stored: [
      { name: 'name', code: 6, fields: ['name'] },
      { name: 'alias_name', code: 7, fields: ['aliases', 'secName'] },
      { name: 'former_name', code: 8, fields: ['formerNames'] },
      { name: 'ended_name', code: 10, by: 'former_name', isOfDissolved: true },
    ],
  },
} as const satisfies KindDescription;

const PLAIN_NAME = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

const wordsAnywhere = new Set(
  `the limited ltd inc incorporated plc llp llc corp corporation company group holding holdings
   ggmbh gmbh oyj`.split(/\s+/),
);

/** Compared with the last word, or with the last few single letters joined. */
const formsAtEnd = new Set(
  `ab ad ag aktiengesellschaft aps as asa bhd bv bvba co cv doo eg ehf eirl ek eood eurl ev fzco fze gbr gmbh
   ivs jsc kabushiki kaisha kft kg kgaa kk lda lp ltda mbh nv nyrt oao ohg ood ooo ou oy pcl pjsc pllc pte pty
   publ pvt sa sab sarl sas sasu sca sdn se sl slu snc sp spa sprl sro srl spzoo tbk ug zrt sadecv sabdecv
   srldecv sderldecv inc llc llp ltd plc`.split(/\s+/),
);
const FORM_WORDS_MAX = 7;
const WRITTEN_FORM =
  / (?:(?:private|public) (?:company )?limited(?: company)?|ltd sti|fz llc|limited liability (?:company|partnership)|societe (?:anonyme|par actions simplifiee|a responsabilite limitee)|sociedad (?:anonima|limitada)|societa (?:per azioni|a responsabilita limitata)|gesellschaft mit beschrankter haftung|haftungsbeschrankt|naamloze vennootschap|besloten vennootschap|aktiebolag|aksjeselskap|aktieselskab|osakeyhtio)$/;
const MARKS = /[™℠®©]|\((?:r|tm|sm)\)/gi;
/** After the name: where its shares are traded, or how it stands. */
const REMARK =
  /(?<=\S\s{0,2})[[(]\s{0,2}(?:(?:nasdaq|nyse|amex|lse|aim|otc|tsx|asx)(?:\s{0,2}:\s{0,2}[a-z0-9.]{1,8})?|in (?:administration|liquidation|receivership)|dissolved|closed|inactive|dormant|defunct)\s{0,2}[\])]$/;
/** After the name: the one that it had before. */
const FORMER_NAME =
  /(?<=\S\s{0,2})[[(]\s{0,2}(?:formerly|previously|f\/?k\/?a)\s[^()[\]]{1,80}[\])]$/i;
/** German and Austrian partnerships with a company as partner: `GmbH & Co. KG`, `AG & Co. KGaA`. */
const COMPANY_AS_PARTNER = / (?:gmbh|ag|se|ug|mbh) (?:and|und|u) co (?:kg|ohg|kgaa)$/;

/** Two stars behind a legal form at the end are a footnote's: behind another word they may hide the rest of it. */
const FOOTNOTE = '(?:corp|corporation|gmbh|inc|incorporated|limited|llc|llp|ltd|plc)\\*\\*$';
const HIDDEN = new RegExp(
  `^(?![^*]*\\b${FOOTNOTE})[^*]*[\\p{L}\\p{N}]\\*{2,}|[${HIDING_SIGNS}]{2,}`,
  'iu',
);
const LETTERS = /[\p{L}\p{N}]+/u;
const ELLIPSIS = /\.\s?\.\s?\.|⋯/;

/** True for a name that a program cut, `Flow...`, or whose rest is hidden, `Flo***`: the whole one is another. */
export function isPartOfName(text: string): boolean {
  if (PLAIN_NAME.test(text)) return false;
  const tidy = tidyCell(text).replace(/&hellip;/gi, '...');
  if (HIDDEN.test(tidy)) return true;
  return ELLIPSIS.test(tidy) && ELLIPSIS.test(tidy.split(LETTERS).at(-1) ?? '');
}

/** Reasons: `empty`, `too_long`, `not_a_name` (no letter and no digit, or not all of them). */
export function normaliseCompanyName(text: string): Normalised {
  if (isTooLong(text)) return invalid('too_long');
  if (text === '') return invalid('empty');
  if (isPartOfName(text)) return invalid('not_a_name');
  const folded = PLAIN_NAME.test(text) ? text : foldName(text);
  if (folded === '') return invalid(tidyCell(text) === '' ? 'empty' : 'not_a_name');
  const whole = oneValue(withoutAllForms(folded));
  const tidy = FORMER_NAME.test(text) ? text.replace(FORMER_NAME, '') : text;
  const alone = tidy === text ? '' : withoutAllForms(foldName(tidy));
  return 'values' in whole && alone !== '' ? severalValues([...whole.values, alone], '') : whole;
}

/** Removes form after form: one may leave another at the end, as in `Acme Société Anonyme SA`, `Acme Aktiebolag Group`. */
function withoutAllForms(name: string): string {
  const rest = name.replace(WRITTEN_FORM, '').replace(COMPANY_AS_PARTNER, '');
  const shorter = withoutForms(rest.split(' ')).join(' ');
  return shorter === name ? name : withoutAllForms(shorter);
}

function foldName(text: string): string {
  return toNormalForm(fold(tidyCell(text.replace(MARKS, ' '))), 'NFKC')
    .replace(REMARK, '')
    .replaceAll("'", '')
    .replace(/&(?:amp;)?/g, ' and ')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

function withoutForms(words: string[]): string[] {
  let kept = words.filter((word) => !wordsAnywhere.has(word));
  if (kept.length === 0) return words;
  let formWords = wordsOfFormAtEnd(kept);
  while (formWords > 0 && formWords < kept.length) {
    kept = kept.slice(0, -formWords);
    formWords = wordsOfFormAtEnd(kept);
  }
  return kept;
}

/** Returns how many words at the end are one legal form: `n v` is two, `sp z o o` four, none is 0. */
function wordsOfFormAtEnd(words: string[]): number {
  for (let count = Math.min(FORM_WORDS_MAX, words.length); count > 1; count -= 1) {
    const last = words.slice(-count);
    const joined = last.join('');
    const isSpelledOut = last.every((word) => word.length === 1) || joined.endsWith('decv');
    if ((isSpelledOut || joined === 'spzoo') && formsAtEnd.has(joined)) return count;
  }
  return formsAtEnd.has(words.at(-1) ?? '') ? 1 : 0;
}
