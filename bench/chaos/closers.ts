/** Opened resources, to be closed in reverse order. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  use<T extends AsyncDisposable>(opened: T): T {
    this.defer(() => opened[Symbol.asyncDispose]());
    return opened;
  }

  /** Closes all, even when one fails. Throws the first failure at the end. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
