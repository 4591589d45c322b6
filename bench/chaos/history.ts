/** Everything that a run did and saw, one JSON line each, with violated rules. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

export class History {
  readonly folder: string;
  readonly violations: string[] = [];
  readonly #file: number;
  readonly #startedMs = performance.now();
  readonly #say: (line: string) => void;

  constructor(folder: string, say: (line: string) => void) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.#file = openSync(path.join(folder, 'history.jsonl'), 'w');
    this.#say = say;
  }

  /** Seconds since the run began. */
  get seconds(): number {
    return Math.round(performance.now() - this.#startedMs) / 1000;
  }

  note(event: string, about: object = {}): void {
    const line = { at: this.seconds, time: new Date().toISOString(), event, ...about };
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** Records an event and prints it. */
  tell(event: string, about: object = {}): void {
    this.note(event, about);
    this.#say(`${this.seconds.toFixed(1).padStart(6)} s  ${event} ${JSON.stringify(about)}`);
  }

  /** Records a violated rule. The run continues and finally fails. */
  violate(rule: string, about: object = {}): void {
    this.violations.push(rule);
    this.tell('VIOLATION', { rule, ...about });
  }

  close(): void {
    closeSync(this.#file);
  }
}
