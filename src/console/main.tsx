/** Starts the console. */
import { render } from 'preact';
import { App } from './app.tsx';
import { loadSession, session } from './session.ts';

const root = document.createElement('div');
root.id = 'app';
document.body.append(root);
render(<App />, root);
// Without an answer the page to sign in says what is wrong as soon as somebody tries.
loadSession().catch(() => session.set(null));
