/**
 * Addresses of pages: the part behind `#` that begins with a slash, as in `/#/batches/ID?tab=report`. The
 * server answers one page; a link works after signing in too.
 */
import { createStore } from './store.ts';

export interface Address {
  path: string;
  query: URLSearchParams;
}

export const address = createStore<Address>(readAddress());

addEventListener('hashchange', () => {
  // A place inside the page is no page.
  if (location.hash === '' || location.hash.startsWith('#/')) address.set(readAddress());
});

/** The path of the page that was gone to last, which may not be shown yet. */
export function pathNow(): string {
  return readAddress().path;
}

export function linkTo(path: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to a page. With `replace` the page before it is left out of the history. */
export function goTo(path: string, query: Record<string, string> = {}, replace = false): void {
  const link = linkTo(path, query);
  if (!replace) {
    location.hash = link;
    return;
  }
  history.replaceState(null, '', link);
  address.set(readAddress());
}

/** Goes on from a page that only leads to another, unless the address has changed since it was shown. */
export function leadOn(from: string, to: string): void {
  if (readAddress().path === from) goTo(to, {}, true);
}

function readAddress(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?', 2);
  return { path: path.startsWith('/') ? path : '/', query: new URLSearchParams(query) };
}

/**
 * The text of an address as an id; null for any other. It becomes a part of the path of calls, and any page may open an
 * address here: one with slashes would choose the call, such as a paid search.
 */
export function readId(text: string | null | undefined): string | null {
  return text && /^[\w-]+$/.test(text) ? text : null;
}

/** The ids of a path that has this form, as in `/batches/:id`; null when it has another. */
export function matchPath(form: string, path: string): Record<string, string> | null {
  const names = form.split('/');
  const values = path.split('/');
  if (names.length !== values.length) return null;
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const value = values[at] ?? '';
    if (!name.startsWith(':')) {
      if (name !== value) return null;
      continue;
    }
    const id = readId(value);
    if (id === null) return null;
    params[name.slice(1)] = id;
  }
  return params;
}
