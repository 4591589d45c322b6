import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { forbidden } from '../../core/lib/errors.ts';

/** Returns the account of an operator's key. Throws `AppError` 403 for a test key, which sees made-up data alone. */
export function operatorOf(key: ApiKey): string {
  if (key.mode === 'live') return key.accountId;
  throw forbidden(
    'Operators see and change the live graph. Use a live key with the scope `admin`.',
  );
}
