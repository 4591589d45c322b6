/**
 * Credits that can be spent now with a key `k`, a row of `api_keys` in the caller's statement: joins, and
 * expressions that use them.
 */
import type { Sql } from '../db/client.ts';

/** Joins for the expressions below: the wallet of `k`, its maximum, and the counter of the amount spent. */
export function joinSpendable(sql: Sql): ReturnType<Sql> {
  return sql`
    left join key_budgets bound on bound.key_id = k.id
    left join key_budgets counter on counter.key_id = k.credits_of
    left join wallets wallet on wallet.account_id = k.account_id`;
}

/** Credits of the key's account that are not reserved. */
export function creditsAvailable(sql: Sql): ReturnType<Sql> {
  return sql`wallet.balance - wallet.reserved`;
}

/** Credits that the key may still spend today; null without a maximum. */
export function creditsLeftToday(sql: Sql): ReturnType<Sql> {
  return sql`bound.credits_per_day - credits_taken_today(counter)`;
}

/** True when the account has no `owned_days` and the key no maximum: its calls take the short charge. */
export function isPlain(sql: Sql): ReturnType<Sql> {
  return sql`wallet.owned_days = 0 and bound.key_id is null and counter.key_id is null`;
}

/**
 * The limit that cannot pay the expression `price`: `insufficient_credits`, `key_budget`, or null when both can.
 */
export function shortage(sql: Sql, price: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    case when ${creditsAvailable(sql)} < ${price} then 'insufficient_credits'
      when ${creditsLeftToday(sql)} < ${price} then 'key_budget' end`;
}
