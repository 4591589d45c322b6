/**
 * The elements of a rich text (`si` and `is`, ECMA-376 part 1, 18.4): the text of its runs in order, without the
 * phonetic runs. White space is kept as written, whatever `xml:space` says: the identifiers decide what is
 * trimmed.
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

  /** Returns the whole text, and empties the item. Throws `AppError` 422 beyond Excel's limit. */
  take(): string {
    return this.#run.take();
  }
}
