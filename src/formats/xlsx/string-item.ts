/**
 * The elements of a rich text (`si` and `is`, ECMA-376 part 1, 18.4): the text of its runs one after
 * the other, without the phonetic runs that tell how it is spoken. White space is kept as written,
 * whether or not `xml:space` asks for it: what is trimmed is for the identifiers to say.
 */

import { TextRun } from './text-run.ts';

export class StringItem {
  readonly #run = new TextRun();
  #isPhonetic = false;
  #isText = false;

  open(name: string): void {
    if (name === 'rPh') this.#isPhonetic = true;
    else if (name === 't') this.#isText = !this.#isPhonetic;
  }

  text(piece: string): void {
    if (this.#isText) this.#run.add(piece);
  }

  close(name: string): void {
    if (name === 'rPh') this.#isPhonetic = false;
    else if (name === 't') this.#isText = false;
  }

  /** The whole text; the item is empty again then. Throws `AppError` 422 beyond Excel's limit. */
  take(): string {
    return this.#run.take();
  }
}
