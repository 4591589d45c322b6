/** Problems of calls, in the words of the service (RFC 9457) or of this page. */
export interface FieldProblem {
  field?: string;
  line?: number;
  /** One-based, inside the value of a parameter. */
  position?: number;
  message: string;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;
  /** Problems of single fields; each is shown next to its field. */
  readonly errors: FieldProblem[];
  /** Further members of the problem document, such as `needed` and `available`. */
  readonly more: Record<string, unknown>;

  constructor(status: number, document: ProblemDocument | null) {
    // A proxy may answer in JSON that is no document, or another one.
    const isOurs = typeof document?.code === 'string';
    const { detail, title, code = 'unknown', errors = [], ...more } = isOurs ? document : {};
    super(pageWords[code] ?? detail ?? title ?? sayStatus(status));
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.more = more;
  }

  /** Seconds after which the limits of the key allow the call again; null when something else is wrong. */
  get retrySeconds(): number | null {
    const seconds = this.more.retry_after;
    return this.status === 429 && typeof seconds === 'number' ? seconds : null;
  }
}

/** Words for refusals that the API states with an id, a time in UTC or a header. */
const pageWords: Readonly<Record<string, string>> = {
  files_expired: 'The files are no longer kept. The counts and charges stay.',
  idempotency_in_progress:
    'An earlier click for the same is still in progress. Try again in a few seconds.',
  idempotency_key_reused:
    'An earlier click has done this already, under another name or at another price. Check what it made before you do it again.',
};

/** Returns true when there is nothing left of a list or export that a call could be about. */
export function isOfGoneFiles(problem: Problem | null): boolean {
  return problem !== null && (problem.status === 404 || problem.code === 'files_expired');
}

/** Words for a refusal of a proxy, which has none of its own. */
function sayStatus(status: number): string {
  if (status === 413) {
    return 'A proxy in front of the service refuses this as too large (413). Ask your administrator to raise its limit.';
  }
  if (status >= 500) return `We can’t reach the server (${status}). Try again in a moment.`;
  return `The service responded with ${status}.`;
}

export interface ProblemDocument {
  detail?: string;
  title?: string;
  code?: string;
  errors?: FieldProblem[];
  [member: string]: unknown;
}

/** A problem of this page's own making. */
export function pageProblem(code: string, detail: string): Problem {
  return new Problem(0, { code, detail });
}

export const unreachable = () =>
  pageProblem('unreachable', 'We can’t reach the server. Try again in a moment.');

/** Any thrown value as a problem that can be shown. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return pageProblem(
    'page_error',
    `Something went wrong on this page: ${String(thrown)}. Reload it.`,
  );
}
