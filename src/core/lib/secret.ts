/** A text that must reach nobody but the one who needs it: printed, logged or serialised it shows nothing. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself; call it where it is used and nowhere else. */
  reveal(): string {
    return this.#text;
  }

  toJSON(): string {
    return '[secret]';
  }
}
