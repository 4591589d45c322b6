/** A promise that a test resolves: tests wait on events, never on the clock. */
export class Signal {
  readonly raised: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.raised = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  raise(): void {
    this.#resolve();
  }
}
