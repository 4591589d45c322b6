/** A successful request, as the log of the API has it in a line `request`. */
export interface LoggedRequest {
  time: string;
  requestId: string;
  method: string;
  route: string;
  account: string;
  batch?: string;
  /** A key, a schedule or another setting. */
  object?: string;
  /** State of the schedule after a change of it. */
  enabled?: boolean;
  credits?: number;
}
