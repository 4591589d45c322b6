/** Starts the console. */
import { render } from 'preact';
import { App } from './app.tsx';
import { WELCOME_PATH } from './pages.ts';
import { address, goTo } from './router.ts';
import { loadSession, session } from './session.ts';

/** The text of the link that signs in once, which leaves the address at once; null without one. */
function takeLink(): string | null {
  const { path, query } = address.get();
  if (path !== '/sign-in') return null;
  goTo(WELCOME_PATH, {}, true);
  return query.get('link');
}

const root = document.createElement('div');
root.id = 'app';
document.body.append(root);
render(<App />, root);
// Without an answer the page to sign in says what is wrong as soon as somebody tries.
loadSession(takeLink()).catch(() => session.set(null));
