import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from './api.ts';
import { useChoicesWarning } from './batch/use-decisions.ts';
import { announce, announceProblem } from './components/announcer.tsx';
import { Button } from './components/button.tsx';
import { Icon } from './components/icon.tsx';
import { Logo } from './components/logo.tsx';
import { WithShownOnce } from './components/shown-once-dialog.tsx';
import { formatNumber } from './format.ts';
import { menuOf } from './pages.ts';
import { address, linkTo } from './router.ts';
import {
  creditsRemaining,
  type Mode,
  modeElsewhere,
  type Session,
  signOut,
  switchMode,
} from './session.ts';
import { useStore } from './store.ts';
import { useAction } from './use-call.ts';

/** The frame of every page: navigation, credits, the signed-in user. */
export function Layout({ session, children }: { session: Session; children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  const { path } = useStore(address);
  useEffect(() => setIsOpen(false), [path]);
  useChoicesWarning();
  return (
    <div class={session.key.mode === 'test' ? 'frame test' : 'frame'}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to main content
      </button>
      <header class="side">
        <div class="side-head">
          <Logo />
          <button
            type="button"
            class="menu-button"
            aria-expanded={isOpen}
            aria-controls="menu"
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'close' : 'menu'} />
            <span>Menu</span>
          </button>
        </div>
        <div id="menu" class={isOpen ? 'menu open' : 'menu'}>
          <Navigation session={session} path={path} />
          <Account session={session} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {session.key.mode === 'test' && (
          <p class="test-strip">
            <strong>Test mode</strong> You’re using sample data. Nothing is charged and live data
            isn’t affected.
          </p>
        )}
        <ModeElsewhere own={session.key.mode} />
        <WithShownOnce>{children}</WithShownOnce>
      </main>
    </div>
  );
}

function Navigation({ session, path }: { session: Session; path: string }) {
  return (
    <nav aria-label="Pages">
      <ul>
        {menuOf(session.key.scopes).map(({ path: target, entry }) => {
          const isHere = path === target || path.startsWith(`${target}/`);
          return (
            <li key={target}>
              <a href={linkTo(target)} aria-current={isHere ? 'page' : undefined}>
                <Icon name={entry.icon} /> {entry.label}
              </a>
            </li>
          );
        })}
        <li>
          <a href="/docs">
            <Icon name="book" /> API
          </a>
        </li>
      </ul>
    </nav>
  );
}

const ASK_CREDITS_MS = 15_000;

function Account({ session }: { session: Session }) {
  const remaining = useStore(creditsRemaining);
  // Not every page asks for what tells it, and others spend and add credits, too.
  useEffect(() => {
    const ask = () => {
      if (document.visibilityState !== 'hidden') call('GET', '/v1/me').catch(() => {});
    };
    if (remaining === null) ask();
    const timer = setInterval(ask, ASK_CREDITS_MS);
    return () => clearInterval(timer);
  }, [remaining === null]);
  const leaving = useAction(() => announceProblem(signOut()));
  return (
    <div class="account">
      <p class="wallet">
        <span>Credits</span>
        <strong>{remaining === null ? '–' : formatNumber(remaining)}</strong>
      </p>
      {session.modes.length > 1 && <ModeSwitch session={session} />}
      <p class="who">
        <strong>{session.account.name}</strong>
        <span>{session.modes.length > 1 ? session.account.email : `${session.key.prefix}…`}</span>
      </p>
      <Button kind="quiet" isBusy={leaving.isBusy} onClick={() => leaving.run()}>
        Sign out
      </Button>
    </div>
  );
}

/** Another tab has switched the mode: this page keeps what it shows, and is asked to follow or to go on. */
function ModeElsewhere({ own }: { own: Mode }) {
  const other = useStore(modeElsewhere);
  const switching = useAction((mode: Mode) => announceProblem(switchMode(mode)));
  if (other === null) return null;
  return (
    <div class="notice warn" role="status">
      <div>
        <p>
          Another tab has switched to {other} mode. This page still shows {own} data; switch back to
          go on here.
        </p>
        <div class="buttons">
          <Button isBusy={switching.isBusy} onClick={() => switching.run(own)}>
            Back to {own} mode
          </Button>
          <Button kind="quiet" onClick={() => switching.run(other)}>
            Switch this page to {other} mode
          </Button>
        </div>
      </div>
    </div>
  );
}

function ModeSwitch({ session }: { session: Session }) {
  const change = async () => {
    const mode = session.key.mode === 'live' ? 'test' : 'live';
    await switchMode(mode);
    announce(mode === 'test' ? 'Test mode is on. Nothing will be charged.' : 'Now in live mode.');
  };
  const switching = useAction(() => announceProblem(change()));
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={session.key.mode === 'test'}
      aria-busy={switching.isBusy}
      onClick={() => switching.run()}
    >
      <span>Test mode</span>
      <span class="knob" aria-hidden="true" />
    </button>
  );
}
