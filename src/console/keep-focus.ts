/**
 * Keeps the focus on the page. A browser that loses the element with the focus starts again at the top, as when the
 * button of a revoked key goes; the nearest element around it that takes the focus gets it instead.
 */
export function keepFocus(): void {
  /** The element with the focus and all elements around it, from the inside out. */
  let around: HTMLElement[] = [];
  document.addEventListener('focusin', ({ target }) => {
    around = [];
    for (let one = target as HTMLElement | null; one !== null; one = one.parentElement) {
      around.push(one);
    }
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) =>
    // By then what was removed is gone; what is still there was left on purpose, as by a click beside it.
    queueMicrotask(() => {
      if (relatedTarget === null && (target as HTMLElement).isConnected) around = [];
    }),
  );
  new MutationObserver(() => {
    const [last] = around;
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
    const next = around.find((one) => one.isConnected && one.matches('[tabindex]'));
    next?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}
