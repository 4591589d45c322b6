import type { Calls } from '../../client/api-types.ts';
import { linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useResource } from '../use-call.ts';

type Me = Calls['GET /v1/me']['response'];

/** Says before a payment that people are charged again, for an account that does not pay once per person. */
export function PaidAgain() {
  const me = useResource<Me>('/v1/me');
  if (me.data === undefined || me.data.owned_days > 0) return null;
  const isAllowed = session.get()?.key.scopes.includes('account') === true;
  return (
    <p class="soft">
      People you already paid for are charged again.
      {isAllowed && (
        <>
          {' '}
          <a href={linkTo('/credits')}>Pay once per person</a>
        </>
      )}
    </p>
  );
}
