/**
 * The one error type for expected failures. Each feature has named factories for its errors; the API renders them
 * as RFC 9457 problem documents and the command line as one sentence.
 */

/** One thing wrong with one input: where it is and what to do. */
export interface ErrorDetail {
  /** The parameter, field, column or option that is wrong. */
  field?: string;
  /** One-based physical line of a file, where the input is a file. */
  line?: number;
  /** One-based character position inside the value. */
  position?: number;
  message: string;
}

export interface AppErrorInput {
  /** Stable machine-readable word, e.g. `insufficient_credits`. */
  code: string;
  /** HTTP status that matches the code. */
  status: number;
  /** One sentence for a person: what is wrong and what to do. */
  message: string;
  /** Further members of the problem document, e.g. `needed` and `available`. */
  extensions?: Record<string, unknown>;
  errors?: ErrorDetail[];
  cause?: unknown;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  readonly status: number;
  readonly extensions: Record<string, unknown>;
  readonly errors: ErrorDetail[];

  constructor(input: AppErrorInput) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.code = input.code;
    this.status = input.status;
    this.extensions = input.extensions ?? {};
    this.errors = input.errors ?? [];
  }
}
