/** Every page: a new one is a file in `pages/` and a line here. */
import type { Page } from './pages/page.ts';

export const pages: readonly Page[] = [
  {
    path: '/batches',
    scope: 'batches',
    entry: { label: 'Lists', icon: 'list' },
    load: async () => (await import('./pages/batches.tsx')).BatchesPage,
  },
  {
    path: '/batches/new',
    scope: 'batches',
    entry: null,
    load: async () => (await import('./pages/new-batch.tsx')).NewBatchPage,
  },
  {
    path: '/batches/:id',
    scope: 'batches',
    entry: null,
    load: async () => (await import('./pages/batch.tsx')).BatchPage,
  },
  {
    path: '/batches/:id/ambiguous',
    scope: 'batches',
    entry: null,
    load: async () => (await import('./pages/ambiguous-rows.tsx')).AmbiguousRowsPage,
  },
  {
    path: '/welcome',
    scope: null,
    entry: null,
    load: async () => (await import('./pages/welcome.tsx')).WelcomePage,
  },
  {
    path: '/search',
    scope: 'search',
    entry: { label: 'Search', icon: 'search' },
    load: async () => (await import('./pages/search.tsx')).SearchPage,
  },
  {
    path: '/exports',
    scope: 'exports',
    entry: { label: 'Exports', icon: 'download' },
    load: async () => (await import('./pages/exports.tsx')).ExportsPage,
  },
  {
    path: '/exports/:id',
    scope: 'exports',
    entry: null,
    load: async () => (await import('./pages/export.tsx')).ExportPage,
  },
  {
    path: '/schedules',
    scope: 'exports',
    entry: { label: 'Schedules', icon: 'clock' },
    load: async () => (await import('./pages/schedules.tsx')).SchedulesPage,
  },
  {
    path: '/schedules/:id',
    scope: 'exports',
    entry: null,
    load: async () => (await import('./pages/schedule.tsx')).SchedulePage,
  },
  {
    path: '/keys',
    scope: 'account',
    entry: { label: 'Keys', icon: 'key' },
    load: async () => (await import('./pages/keys.tsx')).KeysPage,
  },
  {
    path: '/credits',
    scope: 'account',
    entry: { label: 'Credits', icon: 'coins' },
    load: async () => (await import('./pages/credits.tsx')).CreditsPage,
  },
  {
    path: '/webhooks',
    scope: 'account',
    entry: { label: 'Webhooks', icon: 'bell' },
    load: async () => (await import('./pages/webhooks.tsx')).WebhooksPage,
  },
  {
    path: '/webhooks/:id',
    scope: 'account',
    entry: null,
    load: async () => (await import('./pages/webhook.tsx')).WebhookPage,
  },
  {
    path: '/data',
    scope: 'admin',
    entry: { label: 'Data', icon: 'data' },
    load: async () => (await import('./pages/data.tsx')).DataPage,
  },
  {
    path: '/data/runs/:id',
    scope: 'admin',
    entry: null,
    load: async () => (await import('./pages/import-run.tsx')).ImportRunPage,
  },
  {
    path: '/data/imports/:id',
    scope: 'admin',
    entry: null,
    load: async () => (await import('./pages/import.tsx')).ImportPage,
  },
  {
    path: '/health',
    scope: 'admin',
    entry: { label: 'Health', icon: 'pulse' },
    load: async () => (await import('./pages/health.tsx')).HealthPage,
  },
];

/** The menu of a key with these scopes. */
export function menuOf(scopes: readonly string[]) {
  return pages.flatMap(({ path, entry, scope }) =>
    entry === null || (scope !== null && !scopes.includes(scope)) ? [] : [{ path, entry }],
  );
}

/** The page that `/` leads to: the first one of the menu. */
export function homePath(scopes: readonly string[]): string {
  return menuOf(scopes)[0]?.path ?? WELCOME_PATH;
}

/** The first page of a newcomer. */
export const WELCOME_PATH = '/welcome';
