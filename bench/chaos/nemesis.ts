/** Executes the planned faults in time, and repairs everything in the end. */
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import type { Drain, KeptProcess } from './kept-process.ts';
import type { Fault, PlannedFault } from './plan-faults.ts';

export class Nemesis {
  readonly #stack: ChaosStack;
  readonly #history: History;
  readonly #underWay = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  /** One restart of a server at a time. */
  #restarting: Promise<void> = Promise.resolve();
  faults = 0;
  /** Processes that were told to shut down, and did. */
  readonly drains: Drain[] = [];

  constructor(stack: ChaosStack, history: History) {
    this.#stack = stack;
    this.#history = history;
  }

  /** Resolves when the time is over and everything is repaired. */
  async run(plan: readonly PlannedFault[], durationMs: number): Promise<void> {
    const started = performance.now();
    const until = (atMs: number) => delay(Math.max(0, started + atMs - performance.now()));
    for (const { atMs, fault } of plan) {
      await until(atMs);
      this.faults += 1;
      this.#history.tell('fault', fault);
      const done = this.#do(fault)
        .catch((error) =>
          this.#history.violate('a fault can be done', { fault, error: `${error}` }),
        )
        .finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
    }
    await until(durationMs);
    this.#ending.abort();
    await Promise.all(this.#underWay);
    this.#history.tell('faults are over');
  }

  async #do(fault: Fault): Promise<void> {
    const { proxies, workers } = this.#stack;
    switch (fault.kind) {
      case 'kill':
        return this.#processOf(fault).signal('SIGKILL');
      case 'terminate':
        return this.#terminate(this.#processOf(fault));
      case 'freeze':
        this.#processOf(fault).signal('SIGSTOP');
        return this.#after(fault.ms, () => this.#processOf(fault).signal('SIGCONT'));
      case 'shift-clock': {
        const worker = must(workers[fault.index], 'worker');
        worker.clockShiftMs = fault.ms;
        return worker.signal('SIGKILL');
      }
      case 'restart-postgres':
        return this.#restart(() => this.#stack.restartPostgres(fault.awayMs));
      case 'restart-redis':
        return this.#restart(async () => this.#stack.restartRedis?.(fault.awayMs));
      case 'lose-queue':
        return this.#stack.loseQueue();
      case 'network': {
        const proxy = must(proxies[fault.line], 'line');
        proxy.behave(fault.toxic);
        return this.#after(fault.ms, () => proxy.behave({ kind: 'none' }));
      }
      case 'fill-storage':
        await this.#stack.fillStorage?.(true);
        return this.#after(fault.ms, async () => this.#stack.fillStorage?.(false));
    }
  }

  #processOf({ process, index }: { process: 'api' | 'worker'; index: number }): KeptProcess {
    const processes = process === 'api' ? this.#stack.apis : this.#stack.workers;
    return must(processes[index], `${process} ${index}`);
  }

  /** Waits, but not longer than the faults last, then repairs. */
  async #after(ms: number, repair: () => unknown): Promise<void> {
    await delay(ms, undefined, { signal: this.#ending.signal }).catch(() => {});
    await repair();
  }

  async #restart(restart: () => Promise<void>): Promise<void> {
    this.#restarting = this.#restarting.then(restart);
    await this.#restarting;
    this.#history.note('server is back');
  }

  async #terminate(process: KeptProcess): Promise<void> {
    const drain = await process.end('SIGTERM');
    if (drain === null) return;
    this.#history.note('drained', drain);
    this.drains.push(drain);
  }
}
