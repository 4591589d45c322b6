/**
 * Guesses the encoding of a text that is neither UTF-8 nor UTF-16. Each candidate decodes the sample; the one whose
 * letters look most like the words of one of its languages wins. Nothing in such bytes proves an encoding: the result
 * is always a guess, and Windows-1252, the most frequent one, wins when the others are hardly better.
 */
import { TextDecoder } from 'node:util';
import { CR, LF } from './record-reader.ts';
import { decodeWindows1252, type Encoding } from './windows-1252.ts';

/** By this much another encoding has to be better than Windows-1252. */
const MARGIN = 0.08;
/** A candidate below it is no better than noise. */
const SCORE_MIN = 0.55;

type Score = (text: string, bytes: Buffer) => number;

/**
 * Letters outside ASCII of languages with Latin letters. They stand alone between ASCII letters; a text in one
 * language has no others.
 */
const latinLetters: Readonly<Record<Encoding, readonly string[]>> = {
  'windows-1252': [
    'äöüßéèà',
    'éèêëàâçùûîïôœæ',
    'áéíóúñü',
    'ãõáâàçéêíóôú',
    'åäöæøéü',
    'àèéìòù',
    'ëïéèöü',
  ],
  'windows-1250': [
    'ąćęłńóśźż',
    'áčďéěíňóřšťúůýž',
    'áäčďéíĺľňóôŕšťúýž',
    'áéíóöőúüű',
    'ăâîşţ',
    'čćđšž',
  ],
  'windows-1254': ['çğıöşüâîi̇'],
};

/** The frequent letters of other alphabets: about nine of ten letters of a text. */
const alphabets: Readonly<Record<Encoding, readonly string[]>> = {
  'windows-1251': ['оеаинтсрвлкмдпуяыьгзбчйі'],
  'koi8-r': ['оеаинтсрвлкмдпуяыьгзбчй'],
  'windows-1253': ['αοιετσνηυρπκμλςόάίήέώγθδω'],
  'windows-1255': ['אבגדהוזחטיכךלמםנןסעפףצץקרשת'],
  'windows-1256': ['اليمنورتبدعةسكهحفق'],
};

const shareOfJapanese: Score = (text) =>
  meanOf(text, (letter) => {
    if (/[\u3041-\u30ff]/.test(letter)) return 1;
    if (/[\u4e00-\u9fff\u3000-\u303f\uff01-\uff5e]/.test(letter)) return 0.75;
    return -0.5;
  });

/** Scores of encodings of two bytes a letter. In each, the frequent letters have leads of their own. */
const scripts: Readonly<Record<Encoding, Score>> = {
  shift_jis: shareOfJapanese,
  'euc-jp': shareOfJapanese,
  'euc-kr': (text) => meanOf(text, (letter) => (/[\uac00-\ud7a3]/.test(letter) ? 1 : 0)),
  gb18030: (_, bytes) => shareOfPairs(bytes, [0xb0, 0xd7], 0xa1),
  big5: (_, bytes) => shareOfPairs(bytes, [0xa4, 0xc6], 0x40),
};

/** Each letter is looked at some twenty times: 64 KiB of them would hold the thread for a third of a second. */
const JUDGED_BYTES_MAX = 8 * 1024;
const BYTES_BEFORE = 100;

/** Returns the likeliest encoding of bytes that are not UTF-8, by the first lines with letters outside ASCII. */
export function guessLegacyEncoding(sample: Buffer): Encoding {
  const bytes = linesToJudge(sample);
  const western = scoreOf('windows-1252', bytes);
  let best: Encoding = 'windows-1252';
  let bestScore = Math.max(western + MARGIN, SCORE_MIN);
  for (const encoding of candidates) {
    const score = scoreOf(encoding, bytes);
    if (score <= bestScore) continue;
    best = encoding;
    bestScore = score;
  }
  return best;
}

/** The first lines with bytes outside ASCII, each from the first of them on with a few before it. The last one may be cut. */
function linesToJudge(sample: Buffer): Buffer {
  const lines: Buffer[] = [];
  let left = JUDGED_BYTES_MAX;
  for (let from = 0; from < sample.length && left > 0; ) {
    let first = -1;
    let to = from;
    // No letter of any encoding has a byte of a newline.
    for (; to < sample.length && sample[to] !== LF && sample[to] !== CR; to++) {
      if (first < 0 && (sample[to] ?? 0) >= 0x80) first = to;
    }
    to = Math.min(to + 1, sample.length);
    if (first >= 0) {
      const start = Math.max(from, first - BYTES_BEFORE);
      const line = sample.subarray(start, Math.min(to, start + left));
      lines.push(line);
      left -= line.length;
    }
    from = to;
  }
  return Buffer.concat(lines);
}

const candidates: readonly Encoding[] = [latinLetters, alphabets, scripts]
  .flatMap((table) => Object.keys(table))
  .filter((encoding) => encoding !== 'windows-1252');

/** From below 0 to 1; below 0 when the bytes are not of this encoding. */
function scoreOf(encoding: Encoding, bytes: Buffer): number {
  const text = decode(encoding, bytes);
  if (text === null) return -1;
  const scoreText = scripts[encoding];
  if (scoreText !== undefined) return scoreText(text, bytes);
  const latin = latinLetters[encoding];
  const sets = latin ?? alphabets[encoding] ?? [];
  const scores = sets.map((letters) => shareOfLetters(text, new Set(letters), latin !== undefined));
  return Math.max(...scores);
}

function decode(encoding: Encoding, bytes: Buffer): string | null {
  if (encoding === 'windows-1252') return decodeWindows1252(bytes);
  try {
    // As of a stream: the last letter may be cut.
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

const RUN = /[^\0-\x7f]+/g;

/**
 * The share of letters outside ASCII that are in a set. Latin ones come one or two at a time and inside words; those
 * of other alphabets form words, in which no capital follows a small letter.
 */
function shareOfLetters(text: string, letters: ReadonlySet<string>, isLatin: boolean): number {
  let found = 0;
  let all = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    all += run.length;
    const isAlone =
      run.length === 1 && !/[a-z]/i.test(text.slice(Math.max(0, index - 1), index + 2));
    for (const [place, letter] of [...run].entries()) {
      const small = letter.toLowerCase();
      if (/[^\p{L}\p{M}]/u.test(letter)) {
        // Quotes, dashes and signs are common to most; inside a word they are none.
        if (!isAlone && /\p{L}/u.test(text[index + place + 1] ?? '')) found -= 0.5;
        else all -= 1;
      } else if (isLatin && run.length > 2) found -= 0.5;
      else if (!isLatin && isInLatinWord(text, index, run)) found -= 0.5;
      else if (!isLatin && small !== letter && isSmall(run[place - 1])) found -= 1;
      else if (letters.has(small)) found += 1;
    }
  }
  return all <= 0 ? 0 : found / all;
}

/** True for letters next to ASCII ones: no word has letters of two alphabets. */
function isInLatinWord(text: string, index: number, run: string): boolean {
  return /[a-z]/i.test(`${text[index - 1] ?? ''}${text[index + run.length] ?? ''}`);
}

function isSmall(letter: string | undefined): boolean {
  return letter !== undefined && letter !== letter.toUpperCase();
}

/** The mean of a value of all characters outside ASCII. */
function meanOf(text: string, value: (letter: string) => number): number {
  let sum = 0;
  let all = 0;
  for (const [run] of text.matchAll(RUN)) {
    for (const letter of run) {
      sum += value(letter);
      all++;
    }
  }
  return all === 0 ? 0 : sum / all;
}

/** The share of pairs of bytes that are frequent letters: 0.9 at most, so that a sign of a script wins. */
function shareOfPairs(
  bytes: Buffer,
  [leadMin, leadMax]: readonly [number, number],
  trailMin: number,
): number {
  let found = 0;
  let all = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) continue;
    const trail = bytes[++at] ?? 0;
    all++;
    if (lead >= leadMin && lead <= leadMax && trail >= trailMin) found++;
  }
  return all === 0 ? 0 : (found / all) * 0.9;
}
