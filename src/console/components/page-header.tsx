import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface PageHeaderProps {
  title: string;
  /** One line below the title. */
  about?: ComponentChildren;
  back?: { href: string; label: string };
  /** The page's buttons, the most important first. */
  actions?: ComponentChildren;
}

let isFirstPage = true;

/** The head of a page. Going to a page moves the focus here, so that a screen reader says where it is. */
export function PageHeader({ title, about, back, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Enrichment`;
  }, [title]);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus();
    isFirstPage = false;
  }, []);
  return (
    <header class="page-header">
      <div>
        {back && (
          <a class="back" href={back.href}>
            <Icon name="back" /> {back.label}
          </a>
        )}
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {about && <p class="about">{about}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}
