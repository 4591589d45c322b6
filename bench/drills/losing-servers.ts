import type { Backend, StackParts } from '../chaos/chaos-stack.ts';
import type { History } from '../chaos/history.ts';
import type { Random } from '../chaos/random.ts';

/** Servers with a standby, of which the primary is lost again and again. */
export interface LosingServers {
  backend: Backend;
  /** The parts of a stack that runs on them. */
  parts: Partial<StackParts>;
  /** Loses a primary. Resolves when another server is promoted, with how it was done. */
  fail(random: Random, history: History): Promise<Record<string, unknown>>;
  /** Brings the lost server back as it comes back by itself. */
  returnOld(): Promise<void>;
  /** Makes it the standby of the promoted one. */
  follow(history: History): Promise<void>;
}
