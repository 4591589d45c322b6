import { useEffect, useRef } from 'preact/hooks';

/** Calls work every so many milliseconds while the tab is in sight. */
export function useRepeating(work: () => void, everyMs: number): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'hidden') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
