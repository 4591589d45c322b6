import { useState } from 'preact/hooks';
import { type Credentials, session, signIn, signInAgain } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction } from '../use-call.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { errorOf, restOf, TextField } from './field.tsx';
import { Logo } from './logo.tsx';
import { ProblemNotice } from './problem-notice.tsx';

/** The page for who is not signed in. */
export function SignInPage() {
  return (
    <main class="sign-in" id="main">
      <div class="card">
        <Logo />
        <h1>Sign in</h1>
        <SignInForm email="" />
      </div>
      <p class="aside">
        Programs send a key: see the <a href="/docs">documentation</a>.
      </p>
    </main>
  );
}

/** The same over a page whose session has ended; what was under way goes on afterwards. */
export function SignInDialog() {
  const again = useStore(signInAgain);
  const before = session.get();
  if (again === null) return null;
  const leave = () => {
    signInAgain.set(null);
    session.set(null);
    again.done(false);
  };
  return (
    <Dialog title="Sign in to go on" onClose={leave}>
      <p class="dialog-text">
        Your session has ended. This page stays as it is, and what you were doing goes on.
      </p>
      <SignInForm email={before?.account.email ?? ''} />
    </Dialog>
  );
}

type Way = 'password' | 'key';

function SignInForm({ email: knownEmail }: { email: string }) {
  const [way, setWay] = useState<Way>('password');
  const [email, setEmail] = useState(knownEmail);
  const [password, setPassword] = useState('');
  const [key, setKey] = useState('');
  const credentials: Credentials = way === 'key' ? { key: key.trim() } : { email, password };
  const signingIn = useAction(() => signIn(credentials));
  const { problem } = signingIn;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        signingIn.run();
      }}
    >
      <fieldset class="choice">
        <legend class="unseen">Sign in with</legend>
        {(['password', 'key'] as const).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="way"
              checked={way === one}
              onChange={() => {
                setWay(one);
                signingIn.clear();
              }}
            />
            <span>{one === 'key' ? 'API key' : 'E-mail'}</span>
          </label>
        ))}
      </fieldset>
      {way === 'key' ? (
        <TextField
          id="key"
          label="API key"
          type="password"
          autocomplete="off"
          placeholder="svc_live_…"
          value={key}
          onInput={setKey}
          hint="You can do here what the key may do."
          error={errorOf(problem, 'key')}
        />
      ) : (
        <>
          <TextField
            id="email"
            label="E-mail address"
            type="email"
            autocomplete="username"
            value={email}
            onInput={setEmail}
            error={errorOf(problem, 'email')}
          />
          <TextField
            id="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            value={password}
            onInput={setPassword}
            error={errorOf(problem, 'password')}
          />
        </>
      )}
      <ProblemNotice problem={restOf(problem, ['key', 'email', 'password'])} />
      <Button kind="primary" type="submit" isBusy={signingIn.isBusy}>
        Sign in
      </Button>
    </form>
  );
}
