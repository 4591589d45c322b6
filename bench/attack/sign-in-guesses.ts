/** An attacker guesses the password of an account whose owner wants to sign in. */
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type Attack, jsonBody, timed } from './arena.ts';

const GUESSES = 60;

export const signInGuesses: Attack = {
  name: 'sign-in-guesses',
  does: `sends ${GUESSES} wrong passwords from 10 addresses while the owner signs in from another`,
  async run({ stack, call }) {
    const email = `owner-${Date.now()}@team.example`;
    const password = 'correct horse battery';
    await createAccount(stack.sql, { name: 'Owner', email, password, credits: 0 });
    const signIn = (from: string, tried: string) =>
      timed(() => {
        const body = jsonBody({ email, password: tried });
        const headers = { 'X-Forwarded-For': from, 'Sec-Fetch-Site': 'same-origin' };
        return call(null, '/console/session', {
          ...body,
          headers: { ...body.headers, ...headers },
        });
      });
    const guesses = Array.from({ length: GUESSES }, (_, at) =>
      signIn(`198.51.100.${at % 10}`, 'wrong horse battery'),
    );
    const owners = await Promise.all([1, 2, 3].map((at) => signIn(`192.0.2.${at}`, password)));
    await Promise.all(guesses);
    owners.push(await signIn('192.0.2.9', password));
    const refused = owners.filter(({ status }) => status !== 201).length;
    return [{ what: "the owner's sign-ins refused", measured: refused, unit: '', max: 0 }];
  },
};
