/** The cells of a row that a likely match is found by; absent and empty are the same. */
export interface LikelyCells {
  /** A whole name, or the two parts of one. */
  name?: string;
  firstName?: string;
  lastName?: string;
  company?: string;
  title?: string;
  city?: string;
  /** ISO 3166 alpha-2; `UNKNOWN_COUNTRY` for a text that is no country. */
  country?: string | null;
}
