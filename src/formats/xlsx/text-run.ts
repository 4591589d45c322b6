/** Collects the text of one cell or shared string from its pieces, and enforces Excel's limit. */

import { unescapeCell } from './cell-text.ts';
import { cellCharsMax } from './limits.ts';
import { unreadableXlsx } from './xlsx-errors.ts';

/** `_x000D_` is seven characters for one. */
const writtenCharsMax = cellCharsMax * 7;

export class TextRun {
  #text = '';

  add(piece: string): void {
    this.#text += piece;
    if (this.#text.length > writtenCharsMax) throw tooLong();
  }

  /** Returns the text so far, unescaped, and empties the run. */
  take(): string {
    const text = unescapeCell(this.#text);
    this.#text = '';
    if (text.length > cellCharsMax) throw tooLong();
    return text;
  }
}

function tooLong(): Error {
  return unreadableXlsx(`a cell has more than ${cellCharsMax} characters`);
}
