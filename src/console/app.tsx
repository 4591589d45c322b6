import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Announcer } from './components/announcer.tsx';
import { EmptyState } from './components/empty-state.tsx';
import { Loading } from './components/loading.tsx';
import { PageHeader } from './components/page-header.tsx';
import { SignInDialog, SignInPage } from './components/sign-in.tsx';
import { Layout } from './layout.tsx';
import type { Page, PageProps } from './pages/page.ts';
import { homePath, pages } from './pages.ts';
import { asProblem } from './problem.ts';
import { address, leadOn, matchPath } from './router.ts';
import { type Session, session } from './session.ts';
import { useStore } from './store.ts';

/** The console: a page to sign in, or the page of the address. */
export function App() {
  const current = useStore(session);
  return (
    <>
      {current === null && <SignInPage />}
      {current && (
        // Another account or mode has other data: nothing of the page before may stay.
        <Layout key={`${current.account.id} ${current.key.mode}`} session={current}>
          <CurrentPage session={current} />
        </Layout>
      )}
      <SignInDialog />
      <Announcer />
    </>
  );
}

/** Reloads the whole console, which may be of another version by now; without a connection only tries again. */
async function reloadOr(again: () => void): Promise<void> {
  const isThere = await fetch('/', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isThere) location.reload();
  else again();
}

function CurrentPage({ session: { key } }: { session: Session }) {
  const { path, query } = useStore(address);
  useEffect(() => {
    if (path === '/') leadOn('/', homePath(key.scopes));
  }, [path]);
  if (path === '/') return null;
  for (const page of pages) {
    const params = matchPath(page.path, path);
    if (params === null) continue;
    if (page.scope !== null && !key.scopes.includes(page.scope)) {
      return <NotAllowed scope={page.scope} />;
    }
    return <LoadedPage key={path} page={page} params={params} query={query} />;
  }
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        title="The link may be wrong, or the page may have been removed"
        action={
          <a class="button primary" href="#/">
            Go to the first page
          </a>
        }
      />
    </>
  );
}

function NotAllowed({ scope }: { scope: string }) {
  return (
    <>
      <PageHeader title="You don’t have access to this page" />
      <EmptyState title={`This page needs the “${scope}” permission`}>
        Sign in with a key that has it.
      </EmptyState>
    </>
  );
}

/** Loads the module of a page when the user goes there for the first time. */
function LoadedPage({ page, ...props }: PageProps & { page: Page }) {
  const [loaded, setLoaded] = useState<{ Component: ComponentType<PageProps> } | 'failed' | null>(
    null,
  );
  const load = () => {
    setLoaded(null);
    page.load().then(
      (Component) => setLoaded({ Component }),
      () => setLoaded('failed'),
    );
  };
  useEffect(load, [page]);
  // A value that this page cannot show takes no other page with it.
  const [error] = useErrorBoundary();
  const again = (
    <button type="button" class="button primary" onClick={() => reloadOr(load)}>
      Reload
    </button>
  );
  if (error !== undefined) {
    return (
      <>
        <PageHeader title="This page could not be shown" />
        <EmptyState title="Something went wrong on our side" action={again}>
          {asProblem(error).message} What was started continues without this page.
        </EmptyState>
      </>
    );
  }
  if (loaded === null) return <Loading />;
  if (loaded !== 'failed') return <loaded.Component {...props} />;
  return (
    <>
      <PageHeader title="This page could not be loaded" />
      <EmptyState title="The connection was lost, or the service has been updated" action={again}>
        Check your connection, then reload.
      </EmptyState>
    </>
  );
}
