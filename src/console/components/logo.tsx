/** The mark: three rows, of which one has been found. */
export function Logo() {
  return (
    <span class="logo">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="M8 10h16M8 22h10" />
        <path class="found" d="M8 16h16" />
      </svg>
      Enrichment
    </span>
  );
}
