/**
 * The one error type for expected failures, and the factories that features call for theirs. The API renders an
 * error as an RFC 9457 problem document, the command line as one sentence.
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
  /** True for a status of 500 or more that is not a failure; see `notNow`. */
  isExpected?: boolean;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  readonly status: number;
  readonly extensions: Record<string, unknown>;
  readonly errors: ErrorDetail[];
  /** False for a failure of the service. */
  readonly isExpected: boolean;

  constructor(input: AppErrorInput) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.code = input.code;
    this.status = input.status;
    this.extensions = input.extensions ?? {};
    this.errors = input.errors ?? [];
    this.isExpected = input.isExpected ?? input.status < 500;
  }
}

type More = Pick<AppErrorInput, 'errors' | 'extensions' | 'cause'>;
export type FieldError = ErrorDetail & { field: string };

/**
 * 400 `invalid_parameter` for one input.
 * @param field the parameter, column, option or body member as the caller names it
 * @param message what is wrong with it and what to do, e.g. `must be one of , ; | tab`
 */
export function invalidParameter(
  field: string,
  message: string,
  { cause, ...place }: Pick<ErrorDetail, 'line' | 'position'> & { cause?: unknown } = {},
): AppError {
  return invalidParameters([{ field, ...place, message }], cause);
}

/** 400 `invalid_parameter` for several inputs: `limit: must be at most 100. sort: is not a recognised parameter.` */
export function invalidParameters(errors: FieldError[], cause?: unknown): AppError {
  const message = errors.map(asSentence).join(' ');
  return new AppError({ code: 'invalid_parameter', status: 400, message, errors, cause });
}

function asSentence({ field, position, message }: FieldError): string {
  const place = position === undefined ? field : `${field}, position ${position}`;
  return `${place}: ${message}${message.endsWith('.') ? '' : '.'}`;
}

/** 400 `invalid_request`: the request as a whole is wrong, not one of its parameters. */
export function invalidRequest(message: string, cause?: unknown): AppError {
  return new AppError({ code: 'invalid_request', status: 400, message, cause });
}

/** 403 `forbidden`: the key or session is valid and may not do this. */
export function forbidden(message: string): AppError {
  return new AppError({ code: 'forbidden', status: 403, message });
}

/**
 * 404 `not_found`, also for what belongs to another account.
 * @param what the kind of thing and its id, e.g. `Schedule 0192...`
 * @param advice a sentence, where there is something to do
 */
export function notFound(what: string, advice?: string): AppError {
  const message = [`${what} not found.`, advice].filter(Boolean).join(' ');
  return new AppError({ code: 'not_found', status: 404, message });
}

/** 409: the state of the account or of one of its things does not allow this now. */
export function conflict(code: string, message: string, more: More = {}): AppError {
  return new AppError({ code, status: 409, message, ...more });
}

/** 422: the request is well formed, and its contents cannot be processed. */
export function unprocessable(code: string, message: string, more: More = {}): AppError {
  return new AppError({ code, status: 422, message, ...more });
}

/** 503: something that the service needs is missing or does not respond. */
export function unavailable(code: string, message: string, more: More = {}): AppError {
  return new AppError({ code, status: 503, message, ...more });
}

/** 503 that is not a failure: the call came to a bound of the service, or what it read has changed meanwhile. */
export function notNow(code: string, message: string, more: More = {}): AppError {
  return new AppError({ code, status: 503, message, isExpected: true, ...more });
}
