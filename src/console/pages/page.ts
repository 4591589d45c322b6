/** A page in the list of pages. */
import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';

export interface PageProps {
  /** The values in the address for `:id` and the like. */
  params: Record<string, string>;
  query: URLSearchParams;
}

export interface Page {
  path: string;
  /** The permission that the key needs; null: any key. */
  scope: string | null;
  /** Its place in the navigation; null for a page that others lead to. */
  entry: { label: string; icon: IconName } | null;
  load(): Promise<ComponentType<PageProps>>;
}
