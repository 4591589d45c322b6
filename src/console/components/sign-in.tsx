import { useState } from 'preact/hooks';
import { type Credentials, linkProblem, session, signIn, signInAgain } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction } from '../use-call.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { errorOf, restOf, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Logo } from './logo.tsx';
import { ProblemNotice } from './problem-notice.tsx';

/** The page for who is not signed in. */
export function SignInPage() {
  return (
    <main class="sign-in" id="main">
      <div class="card">
        <Logo />
        <h1>Sign in</h1>
        <p class="soft">Enrich lists of people and companies, and search for new ones.</p>
        <ProblemNotice problem={useStore(linkProblem)} />
        <SignInForm email="" />
      </div>
      <p class="aside">
        Building an integration? See the <a href="/docs">API docs</a>.
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
    <Dialog title="Your session expired. Sign in to continue" isLocked onClose={leave}>
      <p class="dialog-text">
        Nothing on this page is lost when you sign in. We’ll pick up where you left off.
      </p>
      <SignInForm email={before?.account.email ?? ''} />
      <div class="dialog-buttons">
        <Button kind="quiet" onClick={leave}>
          Leave without saving
        </Button>
      </div>
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
    <Form problem={problem} onSubmit={() => signingIn.run()}>
      <WayChoice
        way={way}
        onChange={(next) => {
          setWay(next);
          signingIn.clear();
        }}
      />
      {way === 'key' ? (
        <TextField
          id="key"
          label="API key"
          type="password"
          autocomplete="off"
          placeholder="svc_live_…"
          value={key}
          onInput={setKey}
          hint="You’ll have the same permissions as this key."
          error={errorOf(problem, 'key')}
        />
      ) : (
        <>
          <TextField
            id="email"
            label="Email address"
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
            hint="Forgotten? Your administrator sets a new one with enrich account password."
            error={errorOf(problem, 'password')}
          />
        </>
      )}
      <ProblemNotice problem={restOf(problem, ['key', 'email', 'password'])} />
      <Button kind="primary" type="submit" isBusy={signingIn.isBusy}>
        Sign in
      </Button>
    </Form>
  );
}

function WayChoice({ way, onChange }: { way: Way; onChange: (way: Way) => void }) {
  return (
    <fieldset class="choice">
      <legend class="unseen">Sign in with</legend>
      {(['password', 'key'] as const).map((one) => (
        <label key={one}>
          <input type="radio" name="way" checked={way === one} onChange={() => onChange(one)} />
          <span>{one === 'key' ? 'API key' : 'Email'}</span>
        </label>
      ))}
    </fieldset>
  );
}
