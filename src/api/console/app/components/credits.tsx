import { countOf } from '../format.ts';

/** An amount of credits. */
export function Credits({ amount }: { amount: number }) {
  return <span class="credits">{countOf(amount, 'credit')}</span>;
}
