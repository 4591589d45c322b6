/**
 * The states of a batch and the legal moves between them. Each move is one
 * `update ... where state in (...)`; the check constraints of the table hold the same states.
 */
export const batchStates = [
  'created',
  'validating',
  'ready',
  'queued',
  'running',
  'paused',
  'finalizing',
  'completed',
  'cancelling',
  'cancelled',
  'failed',
] as const;
export type BatchState = (typeof batchStates)[number];

/**
 * Why a batch is paused. One that waits for the wallet or for its key resumes automatically; a list at its
 * `max_credits` when that is raised, one paused by a person when it is resumed.
 */
export const pauseReasons = ['insufficient_credits', 'key_budget', 'max_credits', 'user'] as const;
export type PauseReason = (typeof pauseReasons)[number];
/** Why a batch is paused, or was cancelled by the service: it was held or paused for too long. */
export const batchReasons = [...pauseReasons, 'expired'] as const;
export type BatchReason = (typeof batchReasons)[number];
export type Shortage = Exclude<PauseReason, 'user'>;

/** The legal moves from each state. */
const batchMoves: Record<BatchState, readonly BatchState[]> = {
  created: ['validating', 'failed', 'cancelled'],
  validating: ['validating', 'ready', 'queued', 'completed', 'failed', 'cancelled'],
  ready: ['validating', 'queued', 'cancelling', 'failed'],
  queued: ['running', 'paused', 'cancelling', 'failed'],
  running: ['paused', 'finalizing', 'cancelling', 'failed'],
  paused: ['queued', 'running', 'finalizing', 'cancelling', 'failed'],
  finalizing: ['completed', 'failed'],
  completed: [],
  cancelling: ['cancelled'],
  cancelled: [],
  failed: [],
};

/** The states from which a batch may move to this one: the `where` of the update that moves it. */
export function statesBefore(target: BatchState): BatchState[] {
  return batchStates.filter((state) => batchMoves[state].includes(target));
}

/** The states that nothing leaves. */
export const finalStates = batchStates.filter((state) => batchMoves[state].length === 0);

/** True for a final state. */
export function isFinal(state: BatchState): boolean {
  return finalStates.includes(state);
}

/** Before the split: rows are not counted yet. */
export const unsplitStates = ['created', 'validating'] as const satisfies readonly BatchState[];
/** Workers claim chunks. */
export const runnableStates = [
  'queued',
  'running',
  'cancelling',
] as const satisfies readonly BatchState[];
/** Chunks may reserve and charge credits; a pause lets those that are matched finish. */
export const payableStates = ['running', 'paused'] as const satisfies readonly BatchState[];
/** The `max_credits` of a list can be changed: its rows are known, and some have no outcome. */
export const cappableStates = [
  'ready',
  'queued',
  'running',
  'paused',
] as const satisfies readonly BatchState[];
/** The last chunk's commit is followed by the end of the batch. */
export const endingStates = ['finalizing', 'cancelling'] as const satisfies readonly BatchState[];

/** The states in which a batch can be cancelled; before its split it ends at once. */
export const cancellableStates: readonly BatchState[] = [
  ...unsplitStates,
  ...statesBefore('cancelling'),
];
