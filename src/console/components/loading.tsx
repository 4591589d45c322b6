/** Until there is something to show. It appears after a moment, so that a quick answer does not flicker. */
export function Loading() {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading …
    </p>
  );
}
