/** Starts the console. */
import { render } from 'preact';
import { App } from './app.tsx';
import { keepFocus } from './keep-focus.ts';
import { WELCOME_PATH } from './pages.ts';
import { address, goTo } from './router.ts';
import { followSession, loadSession, session } from './session.ts';

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
keepFocus();
const load = (link: string | null) =>
  // Without an answer the page to sign in says what is wrong on the first attempt.
  loadSession(link).catch(() => session.set(session.get() ?? null));
void load(takeLink());
// A link that is pasted into a tab of the console changes the address alone.
address.follow(() => {
  const link = takeLink();
  if (link !== null) void load(link);
});
// The browser would open a file that is dropped outside a drop zone, in place of the console.
for (const type of ['dragover', 'drop'] as const) {
  addEventListener(type, (event) => {
    const { dataTransfer } = event;
    if (event.defaultPrevented || !dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    dataTransfer.dropEffect = 'none';
  });
}
// A page that the browser brings back from its history is as it was left, whoever is signed in by now.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void followSession();
});
