/** A text that must not leak: printed, logged or serialised it shows nothing. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text itself. Call it only where the text is used. */
  reveal(): string {
    return this.#text;
  }

  toJSON(): string {
    return '[secret]';
  }
}
