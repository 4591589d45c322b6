/** The errors of calls and pages that cannot be paid. */
import { AppError } from '../lib/errors.ts';
import { countRefusal } from '../limits/refusals.ts';
import { creditsText } from '../operations.ts';

/** The means to pay a call: credits of the wallet, and those of the key today, null without a maximum. */
export interface Purse {
  available: number;
  leftToday: number | null;
}

/**
 * Returns the error of a call at this price; null when wallet and key can pay it. `cheaper` is a sentence that says how the call
 * would cost less.
 */
export function paymentError(price: number, purse: Purse, cheaper?: string): AppError | null {
  const { available, leftToday } = purse;
  return available < price || (leftToday ?? price) < price
    ? cannotPay(price, purse, cheaper)
    : null;
}

/** Returns the error of a call that needs more than the purse has, and counts the refusal. `cheaper` as above. */
export function cannotPay(
  needed: number,
  { available, leftToday }: Purse,
  cheaper?: string,
): AppError {
  const bucket = available < needed || leftToday === null ? 'wallet' : 'key_budget';
  countRefusal(bucket);
  const end = cheaper === undefined ? '' : ` ${cheaper}`;
  if (bucket === 'wallet') return insufficientCredits(needed, available, end);
  return new AppError({
    code: 'daily_credits_reached',
    status: 402,
    message: `This call may cost ${creditsText(needed)}, and this key may spend only ${leftToday} more today. Use another key, or wait until midnight UTC.${end}`,
    extensions: { needed, available: leftToday },
  });
}

/** Returns the error of a call that the wallet cannot pay. */
function insufficientCredits(needed: number, available: number, end: string): AppError {
  return new AppError({
    code: 'insufficient_credits',
    status: 402,
    message: `This call may cost ${creditsText(needed)}, and the wallet has only ${available} available. Add credits and try again.${end}`,
    extensions: { needed, available },
  });
}
