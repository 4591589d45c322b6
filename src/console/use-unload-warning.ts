import { useEffect } from 'preact/hooks';

/** While something is being sent, the browser asks before it closes or leaves the console. */
export function useUnloadWarning(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isBusy]);
}
